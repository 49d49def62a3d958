"""Branches for CUDA in code that serves the NPU are held back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.made_project import made
from tests.migrate.python.check import migrated, remarks_of

BOTH = """import torch
def device():
    if is_torch_npu_available():
        return torch.device("npu")
    return torch.device("cuda")
def inputs():
    return torch.device("cuda")
"""


def test_only_the_function_that_knows_the_npu_is_left() -> None:
    function = 'inputs():\n    return torch.device("{}")'
    assert migrated(BOTH) == BOTH.replace(function.format("cuda"), function.format("npu"))
    held = [remark for remark in remarks_of(BOTH) if remark.safety == "unsafe"]
    assert [remark.number for remark in held] == ["TW101"]
    assert migrated(BOTH, unsafe=True) == BOTH.replace('"cuda"', '"npu"')


CHOICES = [
    'def f(d):\n    return d.type in {"cuda", "npu", "xpu"}\n',
    'def f(kind):\n    device = kind if kind in {"npu", "xpu"} else "cuda"\n    return torch.device(device)\n',
    'def f(device_type):\n    if device_type == "npu":\n        return 1\n    return device_type == "cuda"\n',
    'def f(d):\n    if d.type == "npu":\n        torch.npu.synchronize()\n'
    '    elif d.type == "cuda":\n        torch.cuda.synchronize()\n',
    'def f(d):\n    npu = d.type == "npu"\n    cuda = d.type == "cuda" and torch.cuda.is_available()\n',
    'BACKENDS = {"npu": "hccl", "cuda": "nccl"}\n',
]


@pytest.mark.parametrize("code", CHOICES)
def test_a_choice_that_has_the_npu_is_left_even_when_asked(code: str) -> None:
    code = f"import torch\n{code}"
    assert migrated(code, unsafe=True) == code
    assert all(remark.outcome == "note" for remark in remarks_of(code))


def test_a_file_with_a_sibling_for_the_npu_is_left(tmp_path: Path) -> None:
    code = "import torch\ndef wait():\n    torch.cuda.synchronize()\n"
    project = made(tmp_path, {"cuda_accelerator.py": code, "npu_accelerator.py": "import torch_npu\n", "a.py": code})
    assert project.text("cuda_accelerator.py") == code
    assert "torch.npu.synchronize" in project.text("a.py")
