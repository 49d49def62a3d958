"""What exists for the NPU in place of well-known kernels, and that it exists."""

from __future__ import annotations

import pytest

from trainwright.knowledge.surface import npu_name_exists
from trainwright.migrate.native.counterparts import COUNTERPARTS, counterpart

CASES = [
    ("scale_kernel", None),
    ("property_map", None),
    ("soft_nms_kernel", None),
    ("nms_quadri_cuda", None),
    ("ms_deformable_im2col_gpu_kernel", "multi-scale deformable attention"),
    ("nms_rotated_cuda_kernel", "rotated NMS"),
    ("nms_kernel", "non-maximum suppression"),
    ("RoIAlignForward", "region of interest pooling"),
    ("modulated_deformable_im2col_gpu_kernel", "multi-scale deformable attention"),
    ("deform_conv_forward", "deformable convolution"),
    ("rms_norm_kernel", "RMS normalisation"),
    ("rotary_embedding_kernel", "rotary position embedding"),
    ("silu_and_mul", "gated SiLU"),
    ("flash_fwd_kernel", "fused attention"),
    ("cuApplyLayerNorm", "layer normalisation"),
]


@pytest.mark.parametrize(("name", "purpose"), CASES)
def test_each_purpose(name: str, purpose: str | None) -> None:
    found = counterpart(name)
    assert (found.purpose if found else None) == purpose


@pytest.mark.parametrize("operator", [name for entry in COUNTERPARTS for name in entry.operators])
def test_every_operator_exists(operator: str) -> None:
    assert npu_name_exists(f"torch_npu.{operator}")
    assert any(f"torch_npu.{operator}" in entry.use for entry in COUNTERPARTS)


def test_the_names_in_advice_exist() -> None:
    assert npu_name_exists("torch_npu.utils.cpp_extension.NpuExtension")
    assert npu_name_exists("torch_npu.optim.NpuFusedAdamW")
