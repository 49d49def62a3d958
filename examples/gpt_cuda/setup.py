"""Build the CUDA operator: ``pip install --no-build-isolation .``."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="gpt-cuda",
    version="0.1.0",
    packages=["gpt", "gpt.kernels"],
    ext_modules=[
        CUDAExtension(
            name="bias_gelu_cuda",
            sources=["gpt/kernels/bias_gelu.cpp", "gpt/kernels/bias_gelu_kernel.cu"],
            extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3", "--use_fast_math"]},
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
