"""Names of torch.cuda become names of torch.npu, where those exist."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import remarks_of
from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.rules.cuda_api import RULE
from trainwright.migrate.rules.cuda_imports import RULE as CUDA_IMPORTS
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
    ("import torch\ng = torch.cuda.default_generators[0]\n", "import torch\ng = torch.npu.default_generators[0]\n"),
    ("import torch\nc = torch.cuda\nc.synchronize()\n", "import torch\nc = torch.npu\nc.synchronize()\n"),
]


@pytest.mark.parametrize(("before", "after"), CHANGED)
def test_names_move_once(before: str, after: str) -> None:
    assert migrated(before) == (after, [])
    assert migrated(after) == (after, [])


@pytest.mark.parametrize("name", ["comm.scatter", "nccl.version", "get_arch_list"])
def test_names_that_do_not_exist_are_never_written(name: str) -> None:
    code = f"import torch\ntorch.cuda.{name}(1)\n"
    assert migrated(code) == (code, [f"torch.cuda.{name}"])


def test_the_agnostic_style() -> None:
    assert migrated("import torch\ntorch.cuda.set_device(1)\n", "agnostic")[0] == (
        "import torch\ntorch.accelerator.set_device_index(1)\n"
    )


EXCEPTIONS = [
    "import torch\ntry: ...\nexcept torch.cuda.OutOfMemoryError: ...\n",
    "import torch\ntry: ...\nexcept (RuntimeError, torch.cuda.CudaError): ...\n",
    "from torch.cuda import OutOfMemoryError\ntry: ...\nexcept OutOfMemoryError: ...\n",
]


@pytest.mark.parametrize("code", EXCEPTIONS)
def test_exceptions_that_torch_always_has_are_no_work(code: str) -> None:
    assert migrated(code) == (code, [])
    assert all(found.outcome == "note" for found in remarks_of(code, RULE, CUDA_IMPORTS))


FEWER = [
    ("torch.cuda.is_bf16_supported(including_emulation=False)", "including_emulation"),
    ("torch.cuda.is_bf16_supported(False)", "argument 1"),
    ("torch.cuda.Event(enable_timing=True, external=True)", "external"),
]


@pytest.mark.parametrize(("call", "argument"), FEWER)
def test_an_argument_that_the_npu_does_not_take_is_left_to_a_person(call: str, argument: str) -> None:
    code = f"import torch\n{call}\n"
    assert migrated(code) == (code, [])
    (found,) = remarks_of(code, RULE)
    assert argument in found.title


def test_functions_without_such_an_argument_move() -> None:
    code = "import torch\ntorch.cuda.is_bf16_supported()\ntorch.cuda.Event(enable_timing=True)\n"
    assert migrated(code) == (code.replace("cuda", "npu"), [])


def test_a_private_name_is_spoken_of_once() -> None:
    code = "from torch.cuda._graph_annotations import mark_kernels\nmark_kernels(1)\nmark_kernels(2)\n"
    assert [found.number for found in remarks_of(code, RULE, CUDA_IMPORTS)] == ["TW108"]


PRIVATE = ["torch.cuda._sleep(1)", 'monkeypatch.setattr(torch.cuda.memory, "_snapshot", f)', "x = s.cuda_stream"]


@pytest.mark.parametrize("line", PRIVATE)
def test_private_names_and_handles_are_left_to_a_person(line: str) -> None:
    code = f"import torch\ndef f(s):\n    {line}\n"
    source = python_source("train.py", code.encode())
    found = scan_python(source, Project(), Options(), [RULE])
    assert [(remark.outcome, remark.edits) for remark in found] == [("manual", ())]


def test_a_name_that_is_patched_must_exist() -> None:
    code = 'import torch\ndef f(patch):\n    patch.object(torch.cuda, "{}")\n'
    assert migrated(code.format("synchronize"))[0] == code.format("synchronize").replace("torch.cuda", "torch.npu")
    assert migrated(code.format("get_arch_list")) == (code.format("get_arch_list"), ["torch.cuda.get_arch_list"])
