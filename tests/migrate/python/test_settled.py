"""A blocker that an NPU machine never gets to is a note, everything else stays one."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.source import python_source

CALL = "torch.cuda.nccl.version()"
HEAD = "import torch\n"


def outcome(code: str, path: str = "train.py", files: frozenset[str] = frozenset()) -> str:
    """What is said about the call, with every rule on."""
    source = python_source(path, f"{HEAD}{code}\n".encode())
    (found,) = [
        one for one in scan_python(source, Project(files=files), Options()) if one.name == CALL.removesuffix("()")
    ]
    return found.outcome


BLOCKED = [
    CALL,
    f"if torch.cuda.is_available():\n    {CALL}",  # the test is rewritten, so that the branch is taken on the NPU
    f"if kind == 'cuda':\n    {CALL}",
    f"if not plat.is_cuda():\n    {CALL}",
    f"if plat.is_cuda() or fast:\n    {CALL}",
    f"def f():\n    if plat.is_cuda():\n        return {CALL}\n    raise ValueError",
    f"def f():\n    if not plat.is_cuda():\n        raise ValueError\n    return {CALL}",
    f"if not plat.is_rocm():\n    {CALL}",
    f"if torch.version.hip is None:\n    {CALL}",
    f"def f():\n    if plat.is_rocm():\n        return 1\n    return {CALL}",
    f"class Ship:\n    def chip(self): return {CALL}",
    f"def f(x):\n    if x.is_npu and fast:\n        return 1\n    return {CALL}",
    f"try:\n    {CALL}\nexcept Exception:\n    pass",
    f"try:\n    {CALL}\nexcept AttributeError:\n    raise",
    f"flag = fast\nif flag:\n    {CALL}",
    f"HAS_TRITON = find()\nif HAS_TRITON:\n    {CALL}",
]


@pytest.mark.parametrize("code", BLOCKED)
def test_what_an_npu_machine_runs_is_blocked(code: str) -> None:
    assert outcome(code) == "blocked"


NOTES = [
    f"if plat.is_cuda():\n    {CALL}",
    f"if plat.is_cuda_alike() and fast:\n    {CALL}",
    f"x = {CALL} if plat.is_cuda() else None",
    f"ok = plat.is_cuda() and {CALL}",
    f"ok = not plat.is_cuda() or {CALL}",
    f"def f():\n    if not plat.is_cuda():\n        return 1\n    return {CALL}",
    f"if hasattr(torch.cuda, 'nccl'):\n    {CALL}",
    f"supported = plat.is_cuda() and fast\nif supported:\n    {CALL}",
    f"if HAS_APEX:\n    {CALL}",
    f"if CUDA_HOME is not None:\n    {CALL}",
    f"try:\n    {CALL}\nexcept (ImportError, AttributeError):\n    pass",
    f"if torch.version.hip:\n    {CALL}",
    f"if torch.version.hip is None:\n    pass\nelse:\n    {CALL}",
    f"if target == 'rocm':\n    {CALL}",
    f"def f():\n    if not plat.is_rocm():\n        raise ValueError\n    return {CALL}",
    f"import pytest\n@pytest.mark.skipif(not plat.is_rocm(), reason='')\ndef test_f():\n    {CALL}",
    f"def run_rocm():\n    {CALL}",
    f"def f(x):\n    if x.device.type == 'npu':\n        return 1\n    return {CALL}",
    f"def f(x):\n    if x.device.type in ('npu', 'mlu'):\n        return {CALL}",
    f"class A:\n    def run_cuda(self): return {CALL}\n    def run_native(self): return 1",
]


@pytest.mark.parametrize("code", NOTES)
def test_what_is_passed_by_is_a_note(code: str) -> None:
    assert outcome(code) == "note"


PLACES = [
    ("pkg/rocm/train.py", frozenset[str](), "note"),
    ("pkg/amd/train.py", frozenset[str](), "note"),
    ("third_party/lib/train.py", frozenset[str](), "note"),
    ("pkg/cuda_accelerator.py", frozenset({"pkg/npu_accelerator.py"}), "note"),
    ("pkg/cuda_accelerator.py", frozenset({"other/npu_accelerator.py"}), "blocked"),
    ("pkg/train.py", frozenset({"pkg/npu.py"}), "blocked"),
]


@pytest.mark.parametrize(("path", "files", "expected"), PLACES)
def test_the_place_of_the_file_counts(path: str, files: frozenset[str], expected: str) -> None:
    assert outcome(CALL, path, files) == expected


def test_a_guard_that_is_rewritten_guards_no_import() -> None:
    code = "import torch\nif torch.cuda.is_available():\n    import pynvml\n"
    found = scan_python(python_source("train.py", code.encode()), Project(), Options())
    assert [remark.outcome for remark in found if remark.number == "TW604"] == ["blocked"]
