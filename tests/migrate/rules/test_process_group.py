"""The backend of torch.distributed."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.process_group import RULE
from trainwright.migrate.source import Source, python_source
from trainwright.migrate.splice import compatible, spliced


def scanned(code: str) -> tuple[Source, list[Remark]]:
    source = python_source("train.py", code.encode())
    return source, scan_python(source, Project(), Options(), [RULE])


def migrated(code: str) -> str:
    source, remarks = scanned(code)
    return (
        spliced(source, [edit for remark in compatible(remarks) for edit in remark.edits])
        .decode()
        .replace("import torch_npu\n", "")
    )


@pytest.mark.parametrize("code", ['print("nccl")\n', 'path = "lib/nccl"\n', 'import torch\nx = {"nccl": 1}\n'])
def test_nothing_else_is_touched(code: str) -> None:
    assert migrated(code) == code


CHANGED = [
    ('"nccl"', '"hccl"'),
    ("backend='nccl'", "backend='hccl'"),
    ('backend="cpu:gloo,cuda:nccl"', 'backend="cpu:gloo,npu:hccl"'),
]


@pytest.mark.parametrize(("before", "after"), CHANGED)
def test_backends_are_rewritten_once(before: str, after: str) -> None:
    call = "import torch.distributed as dist\ndist.init_process_group({})\n"
    assert migrated(call.format(before)) == call.format(after)
    assert migrated(call.format(after)) == call.format(after)


def test_comparisons_follow() -> None:
    code = 'import torch.distributed as dist\nif dist.get_backend() == "nccl": pass\n'
    assert migrated(code) == code.replace("nccl", "hccl")


def test_questions_about_nccl_are_left_to_a_person() -> None:
    _, remarks = scanned("import torch.distributed as dist\ndist.is_nccl_available()\n")
    assert [(remark.outcome, remark.name) for remark in remarks] == [("manual", "torch.distributed.is_nccl_available")]
