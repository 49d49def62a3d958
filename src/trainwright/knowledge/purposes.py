"""What to do instead of single functions of a library that has functions for many purposes."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHOWN = 3
_ROUTES = "choose another implementation where the program has a setting for it"

#: Name of a library -> patterns of dotted names (lower case) and the way out for what they name; the first counts.
_PURPOSES: dict[str, tuple[tuple[str, str], ...]] = {
    "flashinfer": (
        (
            r"moe|routing|expert",
            "compute the experts with torch_npu.npu_grouped_matmul, with torch_npu.npu_moe_gating_top_k_softmax and "
            "torch_npu.npu_moe_init_routing_v2 around it",
        ),
        (r"comm|allreduce|all_reduce|alltoall|mnnvl", "use the collectives of torch.distributed with hccl"),
        (r"fp4|fp8|quant|scale_interleave|sflayout|shuffle_matrix", "use torch_npu.npu_dynamic_quant with int8, or run "
         "in bfloat16: these are layouts of CUDA kernels for 4 and 8 bits"),
        (r"norm", "use torch_npu.npu_rms_norm, or torch_npu.npu_add_rms_norm where a residual is added"),
        (r"gemm|\.mm_|\.bmm|matmul", "use torch.matmul, or torch_npu.npu_grouped_matmul for groups"),
        (r"rope|rotary", "use torch_npu.npu_rotary_mul"),
        (r"silu|gelu|activation", "use torch_npu.npu_swiglu, or the function of torch.nn.functional"),
        (r"sampl|top_k|top_p|topk", "use torch.topk, torch.softmax and torch.multinomial"),
        (r"mamba|ssu|gdn|delta_rule|replayssm", f"write the scan in PyTorch operators; {_ROUTES}"),
        (r"prefill|decode|attention|mla|cascade|\.xqa|sparse|pagedkv|page",
         "replace the call by torch.nn.functional.scaled_dot_product_attention, torch_npu.npu_fusion_attention, or "
         "torch_npu.npu_fused_infer_attention_score for paged caches"),
        (r"\.", f"leave it out: it serves the CUDA kernels of flashinfer; {_ROUTES}"),
    ),
    "apex kernels": (
        (r"softmax", "use torch_npu.npu_scaled_masked_softmax"),
        (r"fused_dense|mlp|weight_gradient", "use torch.nn.Linear and torch.matmul"),
        (r"syncbn", "use torch.nn.SyncBatchNorm"),
        (r"layer_norm", "use torch.nn.LayerNorm"),
    ),
}  # fmt: skip


def instead_of(library: str, names: Iterable[str]) -> str:
    """The way out for the names that are used of a library; empty when its own advice holds for all of them."""
    known = _PURPOSES.get(library, ())
    found = (next((advice for pattern, advice in known if re.search(pattern, name.lower())), "") for name in names)
    return "; ".join([advice for advice in dict.fromkeys(found) if advice][:_SHOWN])
