"""Calls into CUDA operators are found by what their name stands for, never by its last part alone."""

from __future__ import annotations

import pytest

from tests.migrate.native.small_project import FOCAL, found_in
from trainwright.migrate.rules.custom_operators import RULE

LIBRARY = {
    "ops.cu": "__global__ void k(int n) {}\nT run(T a) { k<<<1, 2>>>(a); }\n"
    'TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor"); m.def("backward(Tensor a) -> Tensor"); }\n'
    'TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("op", run); m.impl("backward", run); }',
}
OP = "torch.ops.ns.op"
ON_CPU = {**LIBRARY, "cpu.cpp": 'TORCH_LIBRARY_IMPL(ns, CPU, m) { m.impl("op", on_cpu); }'}
ON_NPU = {**LIBRARY, "npu.cpp": 'TORCH_LIBRARY_IMPL(ns, PrivateUse1, m) { m.impl("op", on_npu); }'}
LOADED = {
    "k.cu": LIBRARY["ops.cu"].split("TORCH")[0] + 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &run); }'
}
LOAD = "from torch.utils.cpp_extension import load\next = load('ext', ['k.cu'])\n"


def found(files: dict[str, str], code: str, path: str = "train.py") -> list[tuple[int, str, str]]:
    """Line, outcome and name of the remarks on one Python file of a project."""
    every = found_in({**files, path: code}, RULE.number)
    return [(line, remark.outcome, remark.name) for file, line, remark in every if file == path]


USE = "from vision import _C\n"


def branch(test: str, rest: str) -> str:
    """A function that calls the operator under a test."""
    return f"{USE}def f(x, kind):\n    if {test}:\n        return _C.focal_forward(x)\n    {rest}\n"


NOTHING = [
    (FOCAL, "loss.backward()\nmodel.forward(x)\nfocal_forward(x)"),
    (FOCAL, "from vision import helpers\nhelpers.build(1)\nhelpers.forward(1)"),
    (FOCAL, "from vision import _C\n_C.count(x)"),
    (LIBRARY, "import torch\ntorch.ops.aten.op(x)\ntorch.ops.other.op(x)\nloss.backward()\nop(x)"),
    ({}, "import _C\n_C.nms(x)"),
]


@pytest.mark.parametrize(("files", "code"), NOTHING)
def test_equal_names_of_other_things_are_left_alone(files: dict[str, str], code: str) -> None:
    assert [item for item in found(files, code) if item[0] > 1] == []


CASES = [
    (FOCAL, branch("x.is_cuda", "return plain(x)"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("x.is_cuda and kind", "return plain(x)"), [(1, "blocked"), (4, "note")]),
    # the test becomes "npu", so that the branch is taken on the NPU
    (FOCAL, branch("x.device.type == 'cuda'", "return plain(x)"), [(1, "blocked"), (4, "blocked")]),
    (FOCAL, branch("torch.npu.is_available()", "raise TypeError"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("torch_npu_installed", "raise TypeError"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("triton_available", "return plain(x)"), [(1, "blocked"), (4, "blocked")]),
    (FOCAL, branch("platform.is_cuda_alike()", "return plain(x)"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("platform.is_rocm()", "return plain(x)"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("x.device.type == 'npu'", "return plain(x)"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("torch.version.hip is not None", "return plain(x)"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("HAS_FLASH", "return plain(x)"), [(1, "blocked"), (4, "note")]),
    (FOCAL, branch("x.is_cuda", "raise TypeError"), [(1, "blocked"), (4, "blocked")]),
    (FOCAL, branch("not x.is_cuda", "return plain(x)"), [(1, "blocked"), (4, "blocked")]),
    (FOCAL, branch("x.is_cuda or kind", "return plain(x)"), [(1, "blocked"), (4, "blocked")]),
    (FOCAL, branch("kind == 'cuda'", "return plain(x)"), [(1, "blocked"), (4, "blocked")]),
    (FOCAL, "from vision import _C\ny = _C.focal_forward(x, 1, 2, 3)\n", [(1, "blocked"), (2, "blocked")]),
    (FOCAL, "import vision._C\ny = vision._C.focal_forward(x)\n", [(1, "blocked"), (2, "blocked")]),
    (FOCAL, "import vision._C as c\nf = c.focal_forward\n", [(1, "blocked"), (2, "blocked")]),
    (
        FOCAL,
        "try:\n    from vision import _C\nexcept ImportError:\n    _C = None\n",
        [(2, "note")],
    ),
    (
        LIBRARY,
        "import torch\ny = torch.ops.ns.op(x)\nz = torch.ops.ns.op.default(x)\n",
        [(2, "blocked"), (3, "blocked")],
    ),
    (
        LIBRARY,
        "import torch\nop = getattr(torch.ops.ns, 'op', None)\nif op is not None:\n    y = op(x)\n",
        [(4, "note")],
    ),
    (LIBRARY, "import torch\nop = getattr(torch.ops.ns, 'op', None)\ny = op(x)\n", [(3, "blocked")]),
    (LIBRARY, f"import torch\nif hasattr(torch.ops.ns, 'op') and y == {OP}:\n    pass\n", [(2, "note")]),
    (LIBRARY, f"import torch\nif hasattr(torch.ops.ns, 'op') or y == {OP}:\n    pass\n", [(2, "blocked")]),
    (LIBRARY, f"import torch\ntry:\n    y = {OP}(x)\nexcept AttributeError:\n    y = f(x)\n", [(3, "note")]),
    (LIBRARY, f"import torch\ntry:\n    y = {OP}(x)\nexcept AttributeError:\n    raise\n", [(3, "blocked")]),
    (LIBRARY, f"import torch\ndef f(x):\n    if x.is_npu:\n        return g(x)\n    return {OP}(x)\n", [(5, "note")]),
    (
        LIBRARY,
        f"import torch\ndef f(x):\n    if x.is_cpu:\n        return g(x)\n    return {OP}(x)\n",
        [(5, "blocked")],
    ),
    (LIBRARY, f"import torch\nclass A:\n  def run_cuda(self, x): return {OP}(x)\n", [(3, "blocked")]),
    (
        LIBRARY,
        f"import torch\nclass A:\n  def run_cuda(self, x): return {OP}(x)\n  def run_native(self, x): return x\n",
        [(3, "note")],
    ),
    (
        LIBRARY,
        f"import torch\ndef f(x):\n    if plat.is_cuda():\n        {OP}(x)\n    elif plat.is_rocm():\n        g(x)\n"
        "    else:\n        raise ValueError\n",
        [(4, "blocked")],
    ),
    (
        LIBRARY,
        f"import torch\ndef f(x, fast):\n    if plat.is_cuda():\n        {OP}(x)\n    elif fast:\n        g(x)\n"
        "    else:\n        raise ValueError\n",
        [(4, "note")],
    ),
    (ON_CPU, f"import torch\ny = {OP}(x)\n", [(2, "manual")]),
    (ON_NPU, f"import torch\ny = {OP}(x)\n", []),
    (LOADED, f"{LOAD}y = ext.f(x)\n", [(3, "blocked")]),
    (LOADED, f"{LOAD}y = ext.name(x)\n", []),
]


@pytest.mark.parametrize(("files", "code", "expected"), CASES)
def test_each_form(files: dict[str, str], code: str, expected: list[tuple[int, str]]) -> None:
    assert [(line, outcome) for line, outcome, _ in found(files, code)] == expected


GUARDED = "try:\n    from vision import _C\n    BUILT = True\nexcept ImportError:\n    BUILT = False\n"
CALL = "def f(x):\n    return _C.focal_forward(x)\n"
FALL_BACK = [
    (f"{GUARDED}{CALL}def g(x):\n    if not BUILT:\n        return plain(x)\n    return f(x)\n", (7, "note")),
    (f"{GUARDED}{CALL}def g(x):\n    if not BUILT:\n        raise ImportError\n    return f(x)\n", (7, "blocked")),
    (f"{GUARDED}{CALL}", (7, "blocked")),
    (f"try:\n    from vision import _C\nexcept ImportError:\n    raise\n{CALL}", (6, "blocked")),
    (
        "def f(x):\n    try:\n        from vision import _C\n    except ImportError:\n        return None\n"
        "    return _C.focal_forward(x)\n",
        (6, "note"),
    ),
]


@pytest.mark.parametrize(("code", "expected"), FALL_BACK)
def test_a_guarded_import_with_another_way_is_a_note(code: str, expected: tuple[int, str]) -> None:
    assert [(line, outcome) for line, outcome, _ in found(FOCAL, code)][-1] == expected


def test_the_remark_names_the_kernel_and_its_place() -> None:
    every = found_in({**LIBRARY, "train.py": "import torch\ntorch.ops.ns.op(x)\n"}, RULE.number)
    (remark,) = [remark for _, _, remark in every]
    assert remark.title == "torch.ops.ns.op runs on CUDA"
    assert remark.detail == "Kernels behind it: k (ops.cu:1)."


def test_a_fallback_two_steps_away_is_seen() -> None:
    code = """
from vision import _C
class Focal(Function):
    @staticmethod
    def forward(ctx, x):
        return _C.focal_forward(x)
focal_cuda = Focal.apply
def focal(x):
    if x.is_cuda:
        return focal_cuda(x)
    else:
        return focal_plain(x)
"""
    assert found(FOCAL, code)[1] == (6, "note", "vision._C.focal_forward")


def test_a_loaded_extension_is_known_in_other_files() -> None:
    files = {**LOADED, "pkg/build.py": LOAD.replace("'k.cu'", "'../k.cu'")}
    assert found(files, "from pkg.build import ext\ny = ext.f(x)\n")[-1][:2] == (2, "blocked")


def test_a_helper_that_loads_by_name() -> None:
    code = "from vision import loader\next = loader.load_ext('_C', ['focal_forward'])\ny = ext.focal_forward(x)\n"
    assert found(FOCAL, code) == [(3, "blocked", "ext.focal_forward")]


def test_a_library_named_by_the_build() -> None:
    text = LIBRARY["ops.cu"].replace("TORCH_LIBRARY(ns", "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME")
    text = text.replace("TORCH_LIBRARY_IMPL(ns", "TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME")
    every = found_in({"ops.cu": text, "a.py": "import torch\ntorch.ops._C.op(x)\n"}, RULE.number)
    assert [(line, remark.outcome, remark.confidence) for _, line, remark in every] == [(2, "blocked", "inferred")]


@pytest.mark.parametrize(("name", "word"), [("get_allocator", "NPUPluggableAllocator"), ("all_reduce", "hccl")])
def test_what_computes_nothing_has_advice_of_its_own(name: str, word: str) -> None:
    files = {"k.cu": LOADED["k.cu"].replace('"f"', f'"{name}"')}
    every = found_in({**files, "train.py": f"{LOAD}y = ext.{name}(x)\n"}, RULE.number)
    (advice,) = [remark.advice for file, _, remark in every if file == "train.py"]
    assert word in advice
