"""Kernel names of real libraries and the type that must be read from them."""

from __future__ import annotations

import pytest

from trainwright.analyze.kernel_types import kernel_types

CASES = {
    "volta_sgemm_128x32_nt": "matmul",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64": "matmul",
    "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT": "matmul",
    "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>": "convolution backward",
    "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>": "convolution backward",
    "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3>": "convolution",
    "volta_scudnn_128x64_stridedB_interior_nn_v1": "convolution",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits>": "attention",
    "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512>": "normalisation",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8>": "softmax",
    "void at::native::vectorized_elementwise_kernel<4, at::native::add_kernel(lambda())>": "elementwise",
    "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>": "optimizer",
    "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16>": "layout",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "communication",
    "my_own_kernel": "other",
}


@pytest.mark.parametrize(("name", "expected"), CASES.items())
def test_type_of_name(name: str, expected: str) -> None:
    assert kernel_types([name]) == [expected]
