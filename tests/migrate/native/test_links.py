"""From a name in Python to the kernel behind it, over files, and never to a kernel of another extension."""

from __future__ import annotations

import pytest

from tests.migrate.native.small_project import FOCAL, project_of
from trainwright.migrate.native.links import is_source, links
from trainwright.migrate.project import Extension


def reached(files: dict[str, str]) -> dict[str, tuple[bool, list[str]]]:
    """Bound name -> whether only CUDA can run it, and the kernels behind it."""
    ways = links(project_of(files))
    found = {}
    for operator in ways.bound:
        reach = ways.of(operator)
        found[operator.name] = (reach.only_cuda, [kernel.name for kernel in reach.kernels])
    return found


def test_a_binding_reaches_its_kernel_over_four_files() -> None:
    assert reached(FOCAL) == {
        "focal_forward": (True, ["focal_kernel"]),
        "count": (False, []),
        "build": (False, []),
        "forward": (False, []),
    }


def test_a_kernel_knows_its_names_and_launchers() -> None:
    ways = links(project_of(FOCAL))
    path = "vision/csrc/cuda/focal.cu"
    assert [operator.name for operator in ways.bound_to("focal_kernel", path)] == ["focal_forward"]
    assert [function.name for function in ways.launchers("focal_kernel", path)] == ["focal_forward_cuda"]


def test_equal_names_of_another_extension_are_not_followed() -> None:
    cuda = "__global__ void k(int n) {}\nvoid scan(int n) { k<<<1, 2>>>(n); }\n"
    cpu = "#include <torch/extension.h>\nvoid scan(int n) {}\n"
    bind = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scan", &scan); }\n'
    files = {"a/scan.cu": cuda, "b/scan.cpp": cpu + bind}
    assert reached(files) == {"scan": (False, [])}


def test_library_operators_join_definition_and_implementation() -> None:
    files = {
        "ops.cpp": 'TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor"); m.def("plain(Tensor a) -> Tensor"); }',
        "ops.cu": "__global__ void k(int n) {}\nT run(T a) { k<<<1, 2>>>(a); }\n"
        'TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("op", run); }',
    }
    assert reached(files) == {"op": (True, ["k"]), "plain": (False, [])}


def test_an_implementation_for_the_npu_counts() -> None:
    files = {
        "ops.cu": "__global__ void k(int n) {}\nT run(T a) { k<<<1, 2>>>(a); }\n"
        'TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor"); }\n'
        'TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("op", run); }\n'
        'TORCH_LIBRARY_IMPL(ns, PrivateUse1, m) { m.impl("op", run_npu); }',
    }
    assert reached(files) == {"op": (False, ["k"])}


def test_registrations_are_followed() -> None:
    files = {
        "bind.cpp": 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("roi", &roi); }',
        "roi.cpp": "Tensor roi(Tensor a) { return roi_impl(a); }\nTensor roi_impl(Tensor a) { DISPATCH(roi_impl, a); }",
        "cuda/bind.cpp": "REGISTER_DEVICE_IMPL(roi_impl, CUDA, roi_cuda);",
        "cuda/roi.cu": "__global__ void k(int n) {}\nTensor roi_cuda(Tensor a) { k<<<1, 2>>>(a); }",
    }
    assert reached(files) == {"roi": (True, ["k"])}


SOURCES = [
    ("setup.py", "csrc/a.cu", "csrc/a.cu", True),
    ("pkg/setup.py", "csrc/a.cu", "pkg/csrc/a.cu", True),
    ("pkg/setup.py", "csrc/*.cu", "pkg/csrc/a.cu", True),
    ("setup.py", "csrc/*.cu", "csrc/cuda/a.cu", False),
    ("setup.py", "csrc/**/*.cu", "csrc/cuda/a.cu", True),
    ("setup.py", "*/a.cu", "deep/down/a.cu", True),
    ("setup.py", "a.cu", "other/a.cu", False),
]


@pytest.mark.parametrize(("declared_in", "source", "file", "expected"), SOURCES)
def test_sources_are_matched_part_by_part(declared_in: str, source: str, file: str, expected: bool) -> None:
    extension = Extension(module="x", sources=(source,), file=declared_in, line=1, cuda=True)
    assert is_source(extension, file) is expected
