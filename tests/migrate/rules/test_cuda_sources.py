"""One remark per kernel, one per file that calls CUDA libraries, none for C++ that has nothing to do with CUDA."""

from __future__ import annotations

import pytest

from tests.migrate.native.small_project import FOCAL, found_in
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.cuda_sources import RULE


def remarks(files: dict[str, str]) -> list[Remark]:
    return [remark for _, _, remark in found_in(files, RULE.number)]


NOTHING = [
    "int f(int n) { return n; }",
    "// uses cuda when it is there\nbool f(const at::Tensor& x) { return x.is_cuda(); }",
    FOCAL["vision/cpu/helpers.cpp"],
]


@pytest.mark.parametrize("text", NOTHING)
def test_plain_cpp_is_left_alone(text: str) -> None:
    assert remarks({"a.cpp": text}) == []


def test_a_kernel_is_listed_with_its_launch_and_its_names() -> None:
    ((path, line, remark),) = found_in(FOCAL, RULE.number)
    assert (path, line) == ("vision/csrc/cuda/focal.cu", 4)
    assert remark.title == "CUDA kernel focal_kernel cannot run on the NPU"
    assert remark.detail == "Launched at line 7. Python reaches it as focal_forward."
    assert remark.outcome == "blocked"
    assert "NpuExtension" in remark.advice


def test_every_kernel_counts_once() -> None:
    text = "__global__ void a(int n);\n__global__ void a(int n) {}\n__global__ void b(int n) {}\n"
    assert [remark.name for remark in remarks({"a.cu": text})] == ["a", "b"]


def test_a_kernel_whose_purpose_is_known_names_the_operator() -> None:
    (remark,) = remarks({"a.cu": "__global__ void nms_rotated_kernel(int n) {}"})
    assert remark.advice.startswith("For rotated NMS, use torch_npu.npu_nms_rotated; otherwise ")
    assert remark.minutes < 960


LIBRARIES = [
    ("a.cpp", "void f() { cublasSgemm(h); cudaMalloc(&x, 4); }", "blocked", "C++ code calls cuBLAS, the CUDA runtime"),
    ("a.cpp", "#ifdef WITH_CUDA\nvoid f() { cudaMalloc(&x, 4); }\n#endif", "manual", "C++ code calls the CUDA runtime"),
    ("a.h", "inline void f() { cudaMalloc(&x, 4); }", "note", "C++ code calls the CUDA runtime"),
    ("a.cuh", "__device__ int f(int n) { return n; }", "note", "CUDA device functions: f"),
]


@pytest.mark.parametrize(("path", "text", "outcome", "title"), LIBRARIES)
def test_files_without_a_kernel(path: str, text: str, outcome: str, title: str) -> None:
    (remark,) = remarks({path: text})
    assert (remark.outcome, remark.title) == (outcome, title)


def test_kernels_of_copied_libraries_are_notes() -> None:
    files = {
        "third_party/lib/a.cu": "__global__ void k(int n) {}",
        "third_party/lib/b.cpp": "void f() { cudaMalloc(&x, 4); }",
    }
    (remark,) = remarks(files)
    assert (remark.outcome, remark.minutes) == ("note", 0)


def test_kernels_with_an_implementation_for_the_npu_are_notes() -> None:
    files = {
        "ops.cu": "__global__ void k(int n) {}\nT run(T a) { k<<<1, 2>>>(a); }\n"
        'TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("op", run); }\n'
        'TORCH_LIBRARY_IMPL(ns, PrivateUse1, m) { m.impl("op", run_npu); }',
    }
    assert [remark.outcome for remark in remarks(files)] == ["note"]


def test_a_file_searched_by_patterns_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainwright.migrate.native.read.LARGE_BYTES", 10)
    (remark,) = remarks({"a.cu": "__global__ void k(int n) {}"})
    assert "searched by text patterns" in remark.detail


REGISTERED = {
    "ops/cuda/gather_cuda.cu": "#include <k.cuh>\n"
    "void gather_cuda(Tensor a) { cudaMalloc(&x, 4); run<<<1, 2>>>(a); }\n",
    "ops/gather.cpp": "Tensor gather_impl(Tensor a) { return DISPATCH(gather_impl, a); }\n"
    "Tensor gather(Tensor a) { return gather_impl(a); }\n",
    "ops/bind.cpp": "REGISTER_DEVICE_IMPL(gather_impl, CUDA, gather_cuda);\n"
    'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("gather", &gather); }\n',
}
ELSEWHERE = [
    ({}, "blocked", ""),
    ({"ops/other.cpp": "REGISTER_NPU_IMPL(scatter_impl, scatter_npu);"}, "blocked", ""),
    (
        {"ops/npu/x.cpp": "Tensor f();\nREGISTER_NPU_IMPL(gather_impl, gather_npu);"},
        "note",
        "for the NPU in ops/npu/x.cpp",
    ),
    ({"ops/npu/gather_npu.cpp": "int n = 1; // for the NPU"}, "note", "for the NPU in ops/npu/gather_npu.cpp"),
    (
        {"ops/x.cpp": "Tensor f();\nREGISTER_DEVICE_IMPL(gather_impl, CPU, f_cpu);"},
        "manual",
        "for the CPU, in ops/x.cpp",
    ),
]


@pytest.mark.parametrize(("more", "outcome", "detail"), ELSEWHERE)
def test_other_implementations_of_the_project(more: dict[str, str], outcome: str, detail: str) -> None:
    (found,) = [remark for path, _, remark in found_in(REGISTERED | more, RULE.number) if path.endswith(".cu")]
    assert found.outcome == outcome
    assert detail in found.detail


KERNEL = "__global__ void k(int n) {}\n"
ROCM = [
    ("csrc/rocm/a.cu", KERNEL, ["code for ROCm"]),
    ("a.cu", f"#ifdef USE_ROCM\n{KERNEL}#endif\n", ["code for ROCm"]),
    (
        "a.cu",
        f"#ifdef USE_ROCM\n{KERNEL}#else\n{KERNEL}#endif\n",
        ["CUDA kernel k cannot run on the NPU", "code for ROCm"],
    ),
    ("a.cu", f"#ifdef FAST\n{KERNEL}#endif\n", ["CUDA kernel k cannot run on the NPU"]),
]


@pytest.mark.parametrize(("path", "text", "titles"), ROCM)
def test_code_for_rocm_is_one_note(path: str, text: str, titles: list[str]) -> None:
    found = remarks({path: text})
    assert sorted(remark.title for remark in found) == titles
    assert all(remark.outcome == "note" for remark in found if remark.title == "code for ROCm")


def test_types_of_cutlass_alone_are_no_call() -> None:
    assert remarks({"a.cu": "template <> void run<cutlass::half_t, 64>(Params &p) { fwd<cutlass::half_t>(p); }"}) == []
    (remark,) = remarks({"a.cu": "void f() { cutlass::gemm::Gemm<cutlass::half_t> g; }"})
    assert remark.title == "C++ code calls CUTLASS"


def test_kernels_of_sparse_convolution_are_known_by_their_folder() -> None:
    (remark,) = remarks({"ops/spconv/reordering.cuh": "__global__ void gatherVecKernel(int n) {}"})
    assert "mx_driving" in remark.advice
