"""Device strings are rewritten where they reach a device, and nowhere else."""

from __future__ import annotations

import ast

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.rules.device_strings import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced


def migrated(code: str, style: Style = "npu") -> str:
    source = python_source("train.py", code.encode())
    remarks = scan_python(source, Project(), Options(style=style), [RULE])
    safe = [remark for remark in compatible(remarks) if remark.safety == "safe"]
    return (
        spliced(source, [edit for remark in safe for edit in remark.edits]).decode().replace("import torch_npu\n", "")
    )


UNTOUCHED = [
    'import os\nos.path.join(here, "cuda", "*.cu")\n',
    '"""Needs cuda."""\nprint("cuda")\n',
    'class Unit:\n    def to(self, where): ...\nUnit().to("cuda")\n',
    'def f(unit):\n    unit.to("cuda")\n',
    'url = "https://pytorch.org/docs/torch.cuda.html"\n',
]


@pytest.mark.parametrize("code", UNTOUCHED)
def test_nothing_else_is_touched(code: str) -> None:
    assert migrated(code) == code


CHANGED = [
    'import torch\nd = torch.device("cuda:0")\n',
    'import torch\nd = torch.device(f"cuda:{rank}")\n',
    'import torch\nd = torch.device("cuda:%d" % rank)\n',
    'import torch\nd = "cuda" if ok else "cpu"\nx = torch.zeros(1, device=d)\n',
    "import torch\nx = torch.load(p, map_location='cuda')\n",
]


@pytest.mark.parametrize("code", CHANGED)
def test_devices_are_rewritten_once(code: str) -> None:
    once = migrated(code)
    assert once == code.replace("cuda", "npu")
    assert migrated(once) == once
    ast.parse(once)


def test_concatenated_names_are_seen() -> None:
    assert migrated('import torch\ntorch.device("cu" + "da")\n') == "import torch\ntorch.device('npu')\n"


def test_the_agnostic_style_asks_torch() -> None:
    code = migrated('import torch\nd = torch.device("cuda")\n', "agnostic")
    assert code == "import torch\nd = torch.device(str(torch.accelerator.current_accelerator()))\n"


CHOSEN = [
    'import torch\nDEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])\n',
    'import torch\nwhere = "cuda" if torch.cuda.is_available() else "meta"\n',
    'import torch\nif torch.cuda.is_available():\n    where = "cuda"\n',
    'import torch\nx = torch.cuda.get_device_name("cuda:1")\n',
    'import torch\nfrom typing import Literal\ndef f(device: Literal["cuda", "cpu"]): ...\n',
]


@pytest.mark.parametrize("code", CHOSEN)
def test_what_is_chosen_with_cuda_changes_with_it(code: str) -> None:
    assert migrated(code) == code.replace('"cuda', '"npu')


def test_other_strings_under_the_question_stay() -> None:
    code = 'import torch\nif torch.cuda.is_available():\n    load("cuda")\n'
    assert migrated(code) == code


TABLES = [
    ('torch.load(p, map_location={"cuda:0": "cuda:1"})', 'torch.load(p, map_location={"cuda:0": "npu:1"})', 1),
    ('torch.load(p, map_location={"cuda:0": "cpu"})', 'torch.load(p, map_location={"cuda:0": "cpu"})', 1),
    (
        'torch.load(p, map_location={"cuda:%d" % 0: f"cuda:{r}"})',
        'torch.load(p, map_location={"cuda:%d" % 0: f"npu:{r}"})',
        1,
    ),
    (
        'torch.load(p, map_location={"cuda:0": "cuda:1", "npu:0": "cuda:1"})',
        'torch.load(p, map_location={"cuda:0": "cuda:1", "npu:0": "cuda:1"})',  # it knows the NPU: held back
        0,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "told"), TABLES)
def test_the_device_that_a_checkpoint_names_stays(before: str, after: str, told: int) -> None:
    head = "import torch\n"
    assert migrated(f"{head}{before}\n") == f"{head}{after}\n"
    assert migrated(f"{head}{after}\n") == f"{head}{after}\n"
    source = python_source("train.py", f"{head}{before}\n".encode())
    remarks = scan_python(source, Project(), Options(), [RULE])
    assert sum(remark.outcome == "manual" for remark in remarks) == told
