"""``.cuda()`` is rewritten on tensors and modules; what is not known is held back; what is known otherwise is left."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.rules.device_calls import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced


def migrated(code: str, *, unsafe: bool = False, style: Style = "npu", project: Project | None = None) -> str:
    source = python_source("train.py", code.encode())
    remarks = compatible(scan_python(source, project or Project(), Options(style=style), [RULE]))
    kept = [remark for remark in remarks if unsafe or remark.safety == "safe"]
    return (
        spliced(source, [edit for remark in kept for edit in remark.edits]).decode().replace("import torch_npu\n", "")
    )


LEFT = [
    'def f(parser):\n    parser.cuda("x")\n',
    "class Unit:\n    def cuda(self): ...\nUnit().cuda()\n",
    "import torch\nclass M(torch.nn.Module):\n    def cuda(self, device=None):\n        return super().cuda(device)\n",
    "config.cuda = True\nprint(config.cuda)\n",
]


@pytest.mark.parametrize("code", LEFT)
def test_other_things_called_cuda_are_left(code: str) -> None:
    assert migrated(code, unsafe=True) == code


SAFE = [
    "import torch\nx = torch.ones(2).cuda(non_blocking=True)\n",
    "import torch\nclass M(torch.nn.Module): ...\nm = M().cuda()\n",
    "def f(loss):\n    loss.cuda()\n    loss.backward()\n",
    "import torch\nx = torch.ones(2)\nx = x.cuda()\ny = (x + 1).cuda(0)\n",
]


@pytest.mark.parametrize("code", SAFE)
def test_tensors_and_modules_move(code: str) -> None:
    assert migrated(code) == code.replace(".cuda(", ".npu(")


def test_an_unknown_receiver_is_held_back() -> None:
    code = "def f(batch):\n    return batch.cuda()\n"
    assert migrated(code) == code
    assert migrated(code, unsafe=True) == code.replace("cuda", "npu")


def test_a_module_is_left_when_the_project_has_a_cuda_of_its_own() -> None:
    code = "import torch\nm = torch.nn.Linear(1, 1).cuda()\n"
    assert migrated(code, project=Project(defines_cuda=frozenset({"Net"}))) == code


def test_the_agnostic_style() -> None:
    code = "import torch\nx = torch.ones(2).cuda()\n"
    assert migrated(code, style="agnostic") == code.replace(
        "cuda()", "to(str(torch.accelerator.current_accelerator()))"
    )
