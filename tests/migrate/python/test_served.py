"""Branches for CUDA in code that serves the NPU are held back."""

from __future__ import annotations

from pathlib import Path

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


def test_a_file_with_a_sibling_for_the_npu_is_left(tmp_path: Path) -> None:
    code = "import torch\ndef wait():\n    torch.cuda.synchronize()\n"
    project = made(tmp_path, {"cuda_accelerator.py": code, "npu_accelerator.py": "import torch_npu\n", "a.py": code})
    assert project.text("cuda_accelerator.py") == code
    assert "torch.npu.synchronize" in project.text("a.py")
