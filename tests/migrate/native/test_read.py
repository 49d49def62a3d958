"""A whole native file: functions by the grammar, facts for the project, and files too large or broken for it."""

from __future__ import annotations

import pytest

from tests.migrate.native.small_project import FOCAL, source_of
from trainwright.migrate.native import read
from trainwright.migrate.native.grammar import parsed_functions
from trainwright.migrate.native.read import is_copied, native_code, native_facts
from trainwright.migrate.project import Facts
from trainwright.migrate.source import plain_source


def test_a_file_that_speaks_of_neither_is_not_read() -> None:
    text = "namespace a { int f(int n) { return n; } }"
    assert native_code(source_of("a.cpp", text)) == read.NativeCode()
    assert native_facts(source_of("a.cpp", text)) == Facts(path="a.cpp", language="cuda-source")


def test_functions_know_what_they_call() -> None:
    text = b"""
    namespace n { T f(T a) { return g<int>(a) + n::h(a) + a.size(); } }
    struct S { void m() { k(); } };
    template <> void S::special<int>(int x) { f([&] { inner(); }); }
    """
    found = {function.name: set(function.calls) for function in parsed_functions(text)}
    assert found == {"f": {"g", "h"}, "m": {"k"}, "special": {"f", "inner"}}


def test_the_facts_of_an_extension() -> None:
    facts = native_facts(source_of("focal.cu", FOCAL["vision/csrc/cuda/focal.cu"]))
    assert facts.kernels == ("focal_kernel",)
    kernel, function = facts.operators
    assert (kernel.kind, kernel.name, kernel.line, kernel.cuda) == ("kernel", "focal_kernel", 4, True)
    assert (function.kind, function.name, function.line, function.cuda) == ("function", "focal_forward_cuda", 5, True)
    assert "focal_kernel" in function.symbol.split()


def test_bindings_for_the_cpu_are_not_cuda() -> None:
    facts = native_facts(source_of("helpers.cpp", FOCAL["vision/cpu/helpers.cpp"]))
    assert [(item.name, item.cuda) for item in facts.operators if item.kind == "pybind"] == [
        ("build", False),
        ("forward", False),
    ]


def test_kernels_that_a_macro_launches_are_reached() -> None:
    text = "__global__ void k(int n) {}\n#define GO(f) f<<<1, 2>>>(3)\nvoid run() { GO(k); }"
    assert [set(function.calls) for function in native_code(source_of("a.cu", text)).functions][-1] >= {"k"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"__global__",
        b"__global__ void f(",
        b"k<<<",
        b"<<<>>>",
        b"cuda \xff\xfe \x00 __global__ void f() {}",
        b'TORCH_LIBRARY(ns, m) { m.def("',
        b"PYBIND11_MODULE(x, m) { m.def(",
        b"\xef\xbb\xbf__global__ void f() {}",
        b"REGISTER_CUDA_(((",
        b"auto kernel = ",
        b"{(" * 2000 + b"cuda",
    ],
)
def test_broken_text_is_read_without_an_error(data: bytes) -> None:
    native_facts(plain_source("a.cu", data))


def test_a_large_file_is_searched_by_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "LARGE_BYTES", 10)
    text = "__global__ void k(int n) {}\nvoid run() { k<<<1, 2>>>(3); other(); }"
    code = native_code(source_of("a.cu", text))
    assert code.by_patterns == "larger than 0 MiB"
    assert {function.name: set(function.calls) for function in code.functions}["run"] == {"k", "other"}


@pytest.mark.parametrize(
    ("path", "copied"),
    [
        ("csrc/ops.cu", False),
        ("include/cutlass/gemm.h", False),
        ("third_party/lib/a.cu", True),
        ("csrc/cutlass/include/cutlass/gemm.h", True),
        ("csrc/cutlass_extensions/a.cu", False),
    ],
)
def test_sources_of_other_projects(path: str, copied: bool) -> None:
    assert is_copied(path) is copied
