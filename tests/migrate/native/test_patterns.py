"""Kernels, launches and CUDA calls are found in the text, comments and strings left out."""

from __future__ import annotations

import pytest

from trainwright.migrate.native.masking import arguments, closing, without_comments, without_strings
from trainwright.migrate.native.patterns import (
    cuda_only_ranges,
    functions_in,
    kernels_in,
    launches_in,
    registrations_in,
    uses_in,
)

NO_KERNELS = [
    "// __global__ void f() {}",
    "/* __global__ void f() {} */",
    'const char* text = "__global__ void f() {}";',
    'auto text = R"(__global__ void f() {})";',
    "__global__ void f(int n);",
    "template <typename T> __global__ void f(T* x, int n);",
]
KERNELS = [
    ("__global__ void f(int n) {}", "f"),
    ("__global__\nvoid\nf(int n)\n{\n}", "f"),
    ("static __global__ void __launch_bounds__(256, 2) f(int n) {}", "f"),
    ("__global__ void C10_LAUNCH_BOUNDS_1(512) f(int n) {}", "f"),
    ("__global__ __launch_bounds__(1024) void f(T<int, 2> n) {}", "f"),
    ("__global__ std::enable_if_t<(N > 1), void> f(int n) {}", "f"),
    ('extern "C" __global__ void f(float* x) {}', "f"),
    ("#define MAKE(name) \\\n  __global__ void name##_kernel(int n) { \\\n  }\nMAKE(x)", "name##_kernel"),
    ("#if A\n__global__ void f(int n) {\n#else\n__global__ void g(int n);\n#endif\n}", "f"),
]


@pytest.mark.parametrize("text", NO_KERNELS)
def test_what_is_no_kernel(text: str) -> None:
    assert kernels_in(without_strings(text.encode())) == []


@pytest.mark.parametrize(("text", "name"), KERNELS)
def test_kernels_are_named(text: str, name: str) -> None:
    data = text.encode()
    (kernel,) = kernels_in(without_strings(data))
    assert kernel.name == name
    assert data[kernel.start :].startswith(b"__global__")


LAUNCHES = [
    ("f<<<1, 2>>>(x);", ["f"]),
    ("ns::f<T, 4> <<< grid, block, 0, stream >>> (x);", ["f"]),
    ("f<decltype(a)><<<dim3(1, 2), 3>>>();", ["f"]),
    ("auto kernel = &f<Traits>; kernel<<<grid, n>>>(p);", ["f"]),
    ("cudaLaunchKernel((void*)f, grid, block, args, 0, stream);", ["f", "grid", "block", "args", "stream"]),
    ("// f<<<1, 2>>>(x);", []),
    ("std::cout << x << y;", []),
]


@pytest.mark.parametrize(("text", "names"), LAUNCHES)
def test_launches_name_their_kernel(text: str, names: list[str]) -> None:
    assert [launch.kernel for launch in launches_in(without_strings(text.encode()))] == names


USES = [
    ("x.is_cuda();", []),
    ("TORCH_CHECK(at::cuda::is_available());", []),
    ('log("cudaMalloc(");', []),
    ("my_cudaMalloc(x); cudaStream_t stream;", []),
    ("cudaMalloc(&x, 4);", ["the CUDA runtime"]),
    ("at::cuda::CUDAGuard guard(d);", ["CUDA in PyTorch"]),
    ("cublasSgemm(h);\ncudnnCreate(&h);", ["cuBLAS", "cuDNN"]),
    ("thrust::sort(a, b); cub::DeviceScan s;", ["Thrust", "CUB"]),
    ("ncclAllReduce(a);", ["NCCL"]),
]


@pytest.mark.parametrize(("text", "libraries"), USES)
def test_cuda_libraries_are_named(text: str, libraries: list[str]) -> None:
    found = uses_in(without_strings(text.encode()), device_code=False)
    assert [use.library for use in found] == libraries


def test_assembly_is_the_gpu_s_only_in_device_code() -> None:
    text = b'asm volatile("mov.u32 %0, %1;" : "=r"(x));'
    assert uses_in(without_strings(text), device_code=False) == []
    assert [use.library for use in uses_in(without_strings(text), device_code=True)] == ["inline PTX"]


def test_text_for_cuda_builds_only() -> None:
    text = b"#ifdef WITH_CUDA\na\n#else\nb\n#endif\n#ifndef USE_CUDA\nc\n#endif\n#if !defined(USE_CUDA)\nd\n#endif\n"
    assert [text[start:end].strip() for start, end in cuda_only_ranges(text)] == [b"a"]


def test_registrations_lead_from_a_name_to_its_implementation() -> None:
    text = b"REGISTER_DEVICE_IMPL(roi_impl,\n  CUDA, roi_cuda);\nREGISTER_NPU_IMPL(nms_impl, nms_npu);\nREGISTER(a, b);"
    found = [(entry.name, entry.target, entry.device) for entry in registrations_in(text)]
    assert found == [("roi_impl", "roi_cuda", "cuda"), ("nms_impl", "nms_npu", "npu")]


def test_functions_without_a_grammar() -> None:
    text = b"int a(int x);\nint b(int x) { if (x) { return a(x); } return c<int>(x); }\nT S::m() const { d(); }"
    found = {function.name: set(function.calls) for function in functions_in(text)}
    assert found == {"b": {"a", "c"}, "m": {"d"}}


def test_masking_keeps_every_offset() -> None:
    data = b'a /* "x" */ b // c\n"d // e" f \'"\' g 1\'000\'000 h'
    assert without_comments(data) == b"a           b     \n\"d // e\" f '\"' g 1'000'000 h"
    assert without_strings(data) == b"a           b     \n\"      \" f ' ' g 1'000'000 h"


def test_brackets_and_arguments() -> None:
    text = b"(a, {b, c}, (d), )"
    assert closing(text, 0) == len(text)
    assert [text[start:end].strip() for start, end in arguments(text, 1, len(text) - 1)] == [b"a", b"{b, c}", b"(d)"]
