"""Operators that exist for the NPU and do what well-known hand-written CUDA kernels do."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Counterpart:
    """What to use instead of a kernel. `operators` are torch_npu names, for a test that checks they exist."""

    pattern: str
    purpose: str
    use: str
    evidence: str
    operators: tuple[str, ...] = ()


_DRIVING = "Ascend DrivingSDK documentation"
_OPS = "torch_npu 2.8.0.post5 operator list"
_ADAPTER = "Ascend third-party library list (Torchvision Adapter)"

#: The first pattern that fits a kernel name (lower case, without underscores) counts.
COUNTERPARTS = (
    Counterpart(
        pattern=r"msdeform|multiscaledeform|deformableim2col|deformableattn|msdeformattn|mscol2im",
        purpose="multi-scale deformable attention",
        use="mx_driving.multi_scale_deformable_attn (package mx-driving)",
        evidence=_DRIVING,
    ),
    Counterpart(
        pattern=r"nmsrotated|rotatednms",
        purpose="rotated NMS",
        use="torch_npu.npu_nms_rotated",
        evidence=_OPS,
        operators=("npu_nms_rotated",),
    ),
    Counterpart(
        pattern=r"(?<![a-z])nms(?!quadri|match|3d|normal)|(?<!soft)nms(?:kernel|cuda)",
        purpose="non-maximum suppression",
        use="torchvision.ops.nms with torchvision_npu (Torchvision Adapter) imported",
        evidence=_ADAPTER,
    ),
    Counterpart(
        pattern=r"psroi",
        purpose="region of interest pooling",
        use="the operator of the same purpose in mx_driving (package mx-driving) or mmcv with NPU support",
        evidence=_DRIVING,
    ),
    Counterpart(
        pattern=r"roialign|roipool",
        purpose="region of interest pooling",
        use="torchvision.ops with torchvision_npu (Torchvision Adapter), or mx_driving (package mx-driving)",
        evidence=f"{_ADAPTER}; {_DRIVING}",
    ),
    Counterpart(
        pattern=r"deformableconv|modulateddeform|deformconv|dcnv?\d|deformableim2col",
        purpose="deformable convolution",
        use="the deformable convolution of mx_driving (package mx-driving)",
        evidence=_DRIVING,
    ),
    Counterpart(
        pattern=r"spconv|subm(?:anifold)?conv|indicepair|indiceconv|sparseconv|voxeliz|furthestpoint|ballquery|threenn|grouppoints",
        purpose="sparse convolution or point-cloud operator",
        use="the operator of the same purpose in mx_driving (package mx-driving)",
        evidence=_DRIVING,
    ),
    Counterpart(
        pattern=r"rmsnorm",
        purpose="RMS normalisation",
        use="torch_npu.npu_rms_norm",
        evidence=_OPS,
        operators=("npu_rms_norm",),
    ),
    Counterpart(
        pattern=r"rotaryemb|rotarypos|applyrotary|(?<!p)(?<!eu)rope(?!rt|ll)",
        purpose="rotary position embedding",
        use="torch_npu.npu_rotary_mul",
        evidence=_OPS,
        operators=("npu_rotary_mul",),
    ),
    Counterpart(
        pattern=r"swiglu|siluandmul|actandmul",
        purpose="gated SiLU",
        use="torch_npu.npu_swiglu (check which half of the input is the gate)",
        evidence=_OPS,
        operators=("npu_swiglu",),
    ),
    Counterpart(
        pattern=r"scaled\w*maskedsoftmax|uppertriangmasked|scaledmasked",
        purpose="scaled masked softmax",
        use="torch_npu.npu_scaled_masked_softmax",
        evidence=_OPS,
        operators=("npu_scaled_masked_softmax",),
    ),
    Counterpart(
        pattern=r"flashattn|flashfwd|flashbwd|fmha|mhafwd|mhabwd|fusedattention|memefficientattention",
        purpose="fused attention",
        use="torch_npu.npu_fusion_attention or torch.nn.functional.scaled_dot_product_attention",
        evidence=f"{_OPS}; transformers #36618",
        operators=("npu_fusion_attention",),
    ),
    Counterpart(
        pattern=r"moepermute|permutetopk|moeunpermute|unpermute",
        purpose="token permutation of a mixture of experts",
        use="torch_npu.npu_moe_token_permute and torch_npu.npu_moe_token_unpermute",
        evidence=_OPS,
        operators=("npu_moe_token_permute", "npu_moe_token_unpermute"),
    ),
    Counterpart(
        pattern=r"fusedbiasgelu|geluforward|gelubackward|biasgelu",
        purpose="GELU",
        use="torch.nn.functional.gelu, or torch_npu.npu_gelu",
        evidence=_OPS,
        operators=("npu_gelu",),
    ),
    Counterpart(
        pattern=r"multitensorapply|adamfunctor|fusedadam|multitensoradam",
        purpose="fused optimizer step",
        use="torch_npu.optim.NpuFusedAdamW, or torch.optim without fused=True",
        evidence="torch_npu NpuFusedAdamW page",
    ),
    Counterpart(
        pattern=r"layernorm",
        purpose="layer normalisation",
        use="torch.nn.functional.layer_norm",
        evidence="torch_npu 2.8 API support table",
    ),
)


def counterpart(*names: str) -> Counterpart | None:
    """What exists for the NPU in place of a kernel with one of these names; None when nothing is known."""
    for name in names:
        plain = name.lower().replace("_", "")
        for entry in COUNTERPARTS:
            if re.search(entry.pattern, plain):
                return entry
    return None
