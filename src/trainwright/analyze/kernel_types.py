"""The sort of a device task, for sources that do not name an operator type: told from the name of the kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Type by a pattern in the kernel's name, first match counts: special kernels stand before what they are built from.
TYPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("communication", r"nccl|rccl|hccl|allreduce|all_reduce|allgather|all_gather|reduce_scatter|all_?to_?all"),
        ("attention", r"flash|fmha|attention|attn|sdpa|paged_"),
        ("convolution backward", r"dgrad|wgrad|conv\w*_?bwd|conv\w*backward|bwd\w*conv"),
        ("convolution", r"conv|scudnn|winograd|im2col|col2im|fprop|igemm_fwd"),
        ("normalisation", r"layer_?norm|batch_?norm|group_?norm|rms_?norm|(?:^|_|::)bn_|welford|norm_(?:fwd|bwd)"),
        ("softmax", r"softmax"),
        ("loss", r"nll_loss|cross_entropy"),
        ("matmul", r"gemm|gemv|cutlass|cublas|matmul|Cijk_|nvjet|splitK|dot_kernel"),
        ("optimizer", r"multi_tensor_apply|adam|lamb(?!da)|fused_sgd"),
        ("embedding", r"embedding|index_select|bounds_check"),
        ("indexing", r"index|gather|scatter"),
        ("pooling", r"pool"),
        ("random", r"dropout|philox|distribution|random|curand"),
        ("sort", r"sort|top_?k|DeviceScan|scan_"),
        ("concatenation", r"CatArray|split_with_sizes|concat"),
        ("layout", r"transpose|permute|nchw\w*nhwc|nhwc\w*nchw"),
        ("elementwise", r"elementwise|pointwise|triton_poi|fill|copy|cast|threshold|sigmoid|gelu|silu"),
        ("reduction", r"reduce|triton_(?:red|per)|mean_|sum_"),
    )
)
#: Type of tasks that are not kernels, by kind.
TYPE_OF_KIND = {"comm": "communication", "memcpy": "memory copy", "memset": "memory fill"}
OTHER = "other"


def kernel_types(names: Sequence[str]) -> list[str]:
    """The type of each kernel name, ``other`` where nothing in the name tells."""
    return [next((kind for kind, pattern in TYPES if pattern.search(name)), OTHER) for name in names]
