"""``.cuda()`` is rewritten on tensors and modules; what is not known is held back; what is known otherwise is left."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project, merged
from trainwright.migrate.python.learn import learn_python
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.parse import parsed
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
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


#: A project in which one class moves itself, one derives from it, and one has nothing to do with it.
NETS = """import torch
class Net(torch.nn.Module):
    def cuda(self, device=None):
        return super().cuda(device)
class Deep(Net): ...
class Plain(torch.nn.Module): ...
"""
PROJECT = {"pkg/nets.py": NETS, "pkg/__init__.py": "from .nets import Net, Plain\n"}


def project_of(files: dict[str, str]) -> Project:
    return merged(learn_python(python_source(path, code.encode())) for path, code in files.items())


#: What may hold an object of Net.
MAY_HOLD = [
    "from pkg.nets import Net\nm = Net().cuda()\n",
    "from pkg import Net\nm = Net()\nm.eval()\nm.cuda()\n",
    "from pkg.nets import Deep\nm = Deep().eval().cuda()\n",
    "from pkg import nets\nm = nets.Deep().cuda()\n",
    "import pkg.nets as n\ndef f(m):\n    m.eval()\n    m.cuda()\n",
    "from pkg.nets import *\ndef f(m):\n    m.eval()\n    m.cuda()\n",
    "from pkg import Net\ndef f(m):\n    m.cuda()\n",
    "from pkg import Net\nclass Own(Net):\n    def f(self):\n        self.cuda()\n",
]


@pytest.mark.parametrize("code", MAY_HOLD)
def test_what_may_be_of_a_class_with_a_cuda_of_its_own_is_left(code: str) -> None:
    assert migrated(code, unsafe=True, project=project_of(PROJECT)) == code


#: Known to be something else, or in a file that has nothing to do with Net.
CANNOT_HOLD = [
    "import torch\nm = torch.nn.Linear(1, 1).cuda()\n",
    "from pkg import Net\nimport torch\nm = torch.nn.Linear(1, 1).cuda()\nx = torch.ones(2).cuda()\n",
    "from pkg import Net, Plain\nm = Plain()\nm.cuda()\n",
    "from pkg.nets import Net, Plain\nclass A:\n    def f(self):\n        self.m = Plain()\n        self.m.cuda()\n",
    "def f(m):\n    m.eval()\n    m.cuda()\n",
    "from pkg import Net\ndef f(n):\n    return (n.loss / n.count).unsqueeze(0).cuda()\n",
]


@pytest.mark.parametrize("code", CANNOT_HOLD)
def test_everything_else_moves(code: str) -> None:
    assert migrated(code, project=project_of(PROJECT)) == code.replace(".cuda(", ".npu(")


def test_the_finding_names_class_file_and_line() -> None:
    code = "from pkg import Net\nm = Net().cuda()\n"
    source = python_source("train.py", code.encode())
    (found,) = scan_python(source, project_of(PROJECT), Options(), [RULE])
    assert "Net" in found.detail
    assert "pkg/nets.py:3" in found.detail
    assert "npu() to Net" in found.advice


def on_classes(code: str) -> list[Remark]:
    source = python_source("nets.py", code.encode())
    tree = parsed(source)
    assert tree is not None
    file = PythonFile(source=source, tree=tree, project=Project(), options=Options())
    return list(RULE.hooks[1].visit(file))


def test_a_class_that_moves_itself_needs_npu() -> None:
    (found,) = on_classes(NETS)
    assert found.title == "Net defines cuda() itself"
    assert "nn.Module" in found.detail
    assert "npu()" in found.advice
    (found,) = on_classes("class Batch:\n    def cuda(self): ...\n")
    assert "no npu()" in found.detail


def test_a_class_with_both_is_no_obstacle() -> None:
    both = "import torch\nclass Net(torch.nn.Module):\n    def cuda(self): ...\n    def npu(self): ...\n"
    code = "from pkg.nets import Net\nm = Net().cuda()\n"
    assert not on_classes(both)
    assert migrated(code, project=project_of({"pkg/nets.py": both})) == code.replace("cuda", "npu")


USED_AS_TORCH = [
    "def f(x):\n    return x.cuda().float() ** 2\n",
    "def f(models):\n    for m in models:\n        m.half()\n        m.cuda()\n",
    "def f(models):\n    return models[0].eval().cuda()\n",
    "def f(q, torch):\n    c = q.centroids.contiguous()\n    c.cuda()\n",
]


@pytest.mark.parametrize("code", USED_AS_TORCH)
def test_what_only_torch_has_methods_for_moves(code: str) -> None:
    assert migrated(code) == code.replace(".cuda(", ".npu(")


def test_the_device_and_the_move_change_together() -> None:
    code = "import torch\ndef f(m):\n    m.cuda(torch.cuda.current_device())\n"
    assert ".npu(torch" in migrated(code)


def test_the_agnostic_style() -> None:
    code = "import torch\nx = torch.ones(2).cuda()\n"
    assert migrated(code, style="agnostic") == code.replace(
        "cuda()", "to(str(torch.accelerator.current_accelerator()))"
    )
