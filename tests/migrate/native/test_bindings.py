"""Names that C++ gives to Python: pybind modules and libraries, whatever the number of arguments."""

from __future__ import annotations

import pytest

from trainwright.migrate.native.bindings import bindings_in
from trainwright.migrate.native.code import Binding
from trainwright.migrate.native.masking import without_comments, without_strings


def bindings(text: str) -> list[Binding]:
    return bindings_in(without_comments(text.encode()), without_strings(text.encode()))


NOTHING = [
    'void f() { m.def("name", &f); }',
    '// PYBIND11_MODULE(x, m) { m.def("name", &f); }',
    'PYBIND11_MODULE(x, m) { m.doc() = "text"; }',
    '#define BIND(M) PYBIND11_MODULE(M, m) { m.def("name", &f); }',
    'PYBIND11_MODULE(x, m) { py::class_<S>(m, "S").def(py::init<>()).def("run", &S::run); }',
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_binds_no_function(text: str) -> None:
    assert bindings(text) == []


CASES = [
    ('PYBIND11_MODULE(x, m) { m.def("a", &f); }', [("a", "pybind", "x", ("f",), "")]),
    # A forward declaration in front of the block changes nothing.
    ('T f(T a, T b);\nPYBIND11_MODULE(x, m) { m.def("a", &f, "doc"); }', [("a", "pybind", "x", ("f",), "")]),
    ('PYBIND11_MODULE(x, m)\n{\n  m.def("a", ns::f<float>);\n}', [("a", "pybind", "x", ("f",), "")]),
    ('PYBIND11_MODULE(x, m) { m.def("a", [](int n) { return g(n); }); }', [("a", "pybind", "x", ("g",), "")]),
    (
        'PYBIND11_MODULE(x, m) { m.def("a", py::overload_cast<int>(&f)); }',
        [("a", "pybind", "x", ("f", "overload_cast"), "")],
    ),
    (
        'PYBIND11_MODULE(x, m) { m.def("a", &f).def("b", &g); }',
        [("a", "pybind", "x", ("f",), ""), ("b", "pybind", "x", ("g",), "")],
    ),
    ('TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor"); }', [("op", "library", "ns", (), "")]),
    ('TORCH_LIBRARY_FRAGMENT(ns, m) { m.def("other::op(Tensor a) -> Tensor"); }', [("op", "library", "other", (), "")]),
    (
        'TORCH_LIBRARY(ns, m) { m.def(TORCH_SELECTIVE_SCHEMA("ns::op(Tensor a) -> T")); }',
        [("op", "library", "ns", (), "")],
    ),
    ('TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("op", f); }', [("op", "implementation", "ns", ("f",), "CUDA")]),
    (
        'TORCH_LIBRARY_IMPL(ns, AutogradCUDA, m) { m.impl("op", f); }',
        [("op", "implementation", "ns", ("f",), "AutogradCUDA")],
    ),
    ('TORCH_LIBRARY_IMPL(ns, CPU, m) { m.impl("op", TORCH_FN(f)); }', [("op", "implementation", "ns", ("f",), "CPU")]),
    (
        'TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, o) { o.impl("op", torch::kCUDA, &f); }',
        [("op", "implementation", "TORCH_EXTENSION_NAME", ("f",), "CUDA")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_each_form(text: str, expected: list[tuple[str, str, str, tuple[str, ...], str]]) -> None:
    found = [(item.name, item.kind, item.namespace, item.symbols, item.keys) for item in bindings(text)]
    assert found == expected
