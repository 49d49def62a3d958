"""Names of torch.cuda become names of torch.npu, where those exist."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.rules.cuda_api import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced


def migrated(code: str, style: Style = "npu") -> tuple[str, list[str]]:
    source = python_source("train.py", code.encode())
    remarks = scan_python(source, Project(), Options(style=style), [RULE])
    edits = [edit for remark in compatible(remarks) for edit in remark.edits]
    moved = spliced(source, edits).decode().replace("import torch_npu\n", "")
    return moved, [remark.name for remark in remarks if remark.outcome == "blocked"]


@pytest.mark.parametrize("code", ["cuda.synchronize()\n", "import other as torch\ntorch.cuda.Event()\n"])
def test_nothing_else_is_touched(code: str) -> None:
    assert migrated(code) == (code, [])


CHANGED = [
    ("import torch\ntorch.cuda.synchronize()\n", "import torch\ntorch.npu.synchronize()\n"),
    ("import torch as t\ne = t.cuda.Event\n", "import torch as t\ne = t.npu.Event\n"),
    ('import torch\ngetattr(torch, "cuda").empty_cache()\n', 'import torch\ngetattr(torch, "npu").empty_cache()\n'),
    ("import torch\na = torch.cuda.CUDAPluggableAllocator\n", "import torch\na = torch.npu.NPUPluggableAllocator\n"),
    (
        "import torch\na = torch.cuda.memory.CUDAPluggableAllocator\n",
        "import torch\na = torch.npu.memory.NPUPluggableAllocator\n",
    ),
    ("import torch\nc = torch.cuda\nc.synchronize()\n", "import torch\nc = torch.npu\nc.synchronize()\n"),
]


@pytest.mark.parametrize(("before", "after"), CHANGED)
def test_names_move_once(before: str, after: str) -> None:
    assert migrated(before) == (after, [])
    assert migrated(after) == (after, [])


@pytest.mark.parametrize("name", ["comm.scatter", "nccl.version", "get_arch_list", "_sleep"])
def test_names_that_do_not_exist_are_never_written(name: str) -> None:
    code = f"import torch\ntorch.cuda.{name}(1)\n"
    assert migrated(code) == (code, [f"torch.cuda.{name}"])


def test_the_agnostic_style() -> None:
    assert migrated("import torch\ntorch.cuda.set_device(1)\n", "agnostic")[0] == (
        "import torch\ntorch.accelerator.set_device_index(1)\n"
    )
