"""Types of CUDA tensors, as classes and as strings."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.tensor_types import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced


def remarks_of(code: str, style: Style = "npu") -> list[Remark]:
    return scan_python(python_source("train.py", code.encode()), Project(), Options(style=style), [RULE])


def migrated(code: str) -> str:
    source = python_source("train.py", code.encode())
    remarks = compatible(remarks_of(code))
    assert all(remark.safety == "safe" for remark in remarks)
    moved = spliced(source, [edit for remark in remarks for edit in remark.edits]).decode()
    return moved.replace("import torch_npu\n", "")


UNTOUCHED = [
    "import torch\nx = torch.FloatTensor(2)\n",
    "import torch\ntorch.cuda.synchronize()\n",
    "from torch.cuda import FloatTensor\nFloatTensor(2)\n",  # the import moves
    'print("torch.cuda.FloatTensor is not torch.FloatTensor")\n',
    'x.type("torch.FloatTensor")\n',
    '"""torch.cuda.FloatTensor"""\n',
]


@pytest.mark.parametrize("code", UNTOUCHED)
def test_nothing_else_is_touched(code: str) -> None:
    assert remarks_of(code) == []


CHANGED = [
    "import torch\nx = torch.cuda.FloatTensor(2, 3).fill_(0)\n",
    "import torch as th\nx = th.cuda.ByteTensor(size)\n",
    "import torch\ntypes = (torch.FloatTensor, torch.cuda.HalfTensor)\n",
    "import torch\ndef f(x: torch.cuda.LongTensor) -> None: ...\n",
    "import torch\ntorch.set_default_tensor_type(torch.cuda.FloatTensor)\n",
    'import torch\ntorch.set_default_tensor_type("torch.cuda.FloatTensor")\n',
    "if x.type() == 'torch.cuda.HalfTensor': pass\n",
    'if x.type() in ["torch.cuda.HalfTensor", "torch.cuda.BFloat16Tensor"]: pass\n',
    'y = x.type("torch.cuda.IntTensor")\n',
    'import torch\nk = "torch.cuda.FloatTensor" if on else "torch.FloatTensor"\ny = torch.ones(2).type(k)\n',
]


@pytest.mark.parametrize("before", CHANGED)
def test_types_are_rewritten_once(before: str) -> None:
    after = before.replace(".cuda.", ".npu.")
    assert migrated(before) == after
    assert remarks_of(after) == []


@pytest.mark.parametrize("code", ["import torch\ntorch.cuda.DoubleTensor(3)\n", 'x.type("torch.cuda.DoubleTensor")\n'])
def test_float64_is_noted(code: str) -> None:
    (found,) = remarks_of(code)
    assert (found.outcome, found.safety) == ("replaced", "safe")
    assert "float64" in found.detail


def test_a_type_that_the_npu_lacks_is_never_written() -> None:
    code = "import torch\ntorch.cuda.ComplexFloatStorage(3)\n"
    (found,) = remarks_of(code)
    assert (found.outcome, found.name) == ("blocked", "torch.cuda.ComplexFloatStorage")
    assert migrated(code) == code


def test_a_string_that_goes_nowhere_known_is_left_to_a_person() -> None:
    code = 'names = {"torch.cuda.FloatTensor": 4}\n'
    (found,) = remarks_of(code)
    assert (found.outcome, found.minutes) == ("manual", 3)


STYLES: list[tuple[str, Style, str]] = [
    ("torch.cuda.FloatTensor(2)", "agnostic", "manual"),
    ("torch.cuda.FloatTensor(2)", "shim", "note"),
    ('x.type() == "torch.cuda.FloatTensor"', "agnostic", "manual"),
    ('x.type() == "torch.cuda.FloatTensor"', "shim", "manual"),
]


@pytest.mark.parametrize(("code", "style", "outcome"), STYLES)
def test_the_other_styles_do_not_write_types(code: str, style: Style, outcome: str) -> None:
    (found,) = remarks_of(f"import torch\n{code}\n", style)
    assert (found.outcome, found.edits) == (outcome, ())
