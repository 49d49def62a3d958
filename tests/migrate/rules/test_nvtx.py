"""Marks and ranges of NVTX: what mstx has is rewritten, the stack of ranges is left to a person."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.nvtx import RULE
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
    "nvtx.mark('a')\n",
    "import nvtx\n",  # imports of libraries have a rule of their own
    "from .tools import nvtx\nnvtx.annotate('a')\n",
    "import torch\nif hasattr(torch.cuda.nvtx, 'mark'): ...\nn = getattr(torch.cuda, 'nvtx', None)\n",
    "import torch\nwith torch.profiler.record_function('a'): ...\n",
]


@pytest.mark.parametrize("code", UNTOUCHED)
def test_nothing_else_is_touched(code: str) -> None:
    assert remarks_of(code) == []


CHANGED = [
    ('torch.cuda.nvtx.mark("a")', 'torch.npu.mstx.mark("a")'),
    ("torch.cuda.nvtx.mark(msg=a)", "torch.npu.mstx.mark(message=a)"),
    ("h = torch.cuda.nvtx.range_start(a)", "h = torch.npu.mstx.range_start(a)"),
    ("torch.cuda.nvtx.range_end(range_id=h)", "torch.npu.mstx.range_end(range_id=h)"),
]


@pytest.mark.parametrize(("before", "after"), CHANGED)
def test_the_functions_that_mstx_has_are_rewritten_once(before: str, after: str) -> None:
    assert migrated(f"import torch\n{before}\n") == f"import torch\n{after}\n"
    assert remarks_of(f"import torch\n{after}\n") == []


MANUAL = [
    ("import torch\ntorch.cuda.nvtx.range_push('a')\n", "no stack"),
    ("import torch\ntorch.cuda.nvtx.range_pop()\n", "by the handle"),
    ("import torch\nwith torch.cuda.nvtx.range('a'): ...\n", "record_function"),
    ("import torch\n@torch.cuda.nvtx.range('a')\ndef f(): ...\n", "mstx_range(message)"),
    ("import torch\nrun(torch.cuda.nvtx.mark)\n", "torch.npu.mstx.mark(message)"),
    ("import torch\ntorch.cuda.nvtx.mark(*a)\n", "torch.npu.mstx.mark(message)"),
    ("from torch.cuda import nvtx\nnvtx.range_push('a')\n", "no stack"),
    ("from torch.cuda.nvtx import range_pop as pop\npop()\n", "by the handle"),
    ("import torch.cuda.nvtx as n\nn.mark('a')\n", "torch.npu.mstx.mark(message)"),
    ("import nvtx\nwith nvtx.annotate('a', color='red'): ...\n", "record_function"),
    ("import torch\npush = torch.cuda.nvtx.range_push\npush('a')\n", "no stack"),
    ("import nvtx\nr = nvtx.start_range('a')\n", "gives such a handle"),
    ("import torch\nwith torch.autograd.profiler.emit_nvtx(): ...\n", "torch_npu.profiler.profile()"),
]


@pytest.mark.parametrize(("code", "advice"), MANUAL)
def test_the_rest_is_named_with_what_to_write(code: str, advice: str) -> None:
    (found,) = remarks_of(code)
    assert found.outcome == "manual"
    assert found.minutes > 0
    assert advice in found.advice
    assert migrated(code) == code


def test_the_shim_does_not_help() -> None:
    (found,) = remarks_of("import torch\ntorch.cuda.nvtx.mark('a')\n", "shim")
    assert (found.outcome, found.edits) == ("manual", ())
    assert "AttributeError" in found.detail
