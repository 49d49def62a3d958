"""Imports from torch.cuda: what the NPU has moves, what it lacks stays behind by itself."""

from __future__ import annotations

import ast

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.cuda_imports import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced


def remarks_of(code: str, style: Style = "npu") -> list[Remark]:
    return scan_python(python_source("train.py", code.encode()), Project(), Options(style=style), [RULE])


def migrated(code: str) -> str:
    source = python_source("train.py", code.encode())
    remarks = compatible(remarks_of(code))
    assert all(remark.safety == "safe" for remark in remarks)
    return spliced(source, [edit for remark in remarks for edit in remark.edits]).decode()


UNTOUCHED = [
    "import torch\nfrom torch import nn\n",
    "from numba import cuda\ncuda.jit(f)\n",
    "from .cuda import Event\nfrom . import cuda\n",
    "from torch.cuda import nvtx\nimport torch.cuda.nvtx as n\n",  # marks have a rule of their own
    "from torch.cuda.amp import autocast\nimport torch.cuda.amp as amp\n",  # so has mixed precision
]


@pytest.mark.parametrize("code", UNTOUCHED)
def test_nothing_else_is_touched(code: str) -> None:
    assert remarks_of(code) == []


MOVED = [
    ("import torch.cuda\ntorch.zeros(1)\n", "import torch\ntorch.zeros(1)\n"),
    ("import torch\nimport os, torch.cuda, re\n", "import torch\nimport os, torch_npu.npu, re\n"),
    ("def f():\n    import torch.cuda\nimport torch\n", "def f():\n    import torch\nimport torch\n"),
    ("import torch.cuda as tc\ntc.synchronize()\ng = tc.CUDAGraph()\n",
     "import torch_npu.npu as tc\ntc.synchronize()\ng = tc.NPUGraph()\n"),
    ("import torch.cuda as tc\nwith tc.amp.autocast(True): ...\n",
     "import torch_npu.npu as tc\nwith tc.amp.autocast(True): ...\n"),
    ("import torch.cuda.memory as m\nm.empty_cache()\n", "import torch_npu.npu.memory as m\nm.empty_cache()\n"),
    ("from torch import cuda, nn\ncuda.Event().record()\n",
     "from torch import nn\nfrom torch_npu import npu as cuda\ncuda.Event().record()\n"),
    ("from torch import (\n    cuda,  # comment\n    nn,\n)\n",
     "from torch import (\n    npu as cuda,  # comment\n    nn,\n)\n"),
    ("from torch import cuda as c\nrun(c)\n", "from torch_npu import npu as c\nrun(c)\n"),
    ("from torch.cuda import Event, synchronize as wait\n", "from torch_npu.npu import Event, synchronize as wait\n"),
    ("from torch.cuda import (\n    Event,  # of a stream\n    Stream,\n)\n",
     "from torch_npu.npu import (\n    Event,  # of a stream\n    Stream,\n)\n"),
    ("from torch.cuda import CUDAGraph, CUDAGraph as G\n",
     "from torch_npu.npu import NPUGraph as CUDAGraph, NPUGraph as G\n"),
    ("from torch.cuda.streams import Stream\n", "from torch_npu.npu import Stream\n"),
    ("from torch.cuda.memory import CUDAPluggableAllocator as P\n",
     "from torch_npu.npu import NPUPluggableAllocator as P\n"),
    ("from torch.cuda.memory import _snapshot\n", "from torch_npu.npu.memory import _snapshot\n"),
    ("from torch.cuda import amp\nwith amp.autocast(on): ...\n",
     'from torch import amp\nwith amp.autocast("npu", enabled=on): ...\n'),
    ("try:\n    from torch.cuda import Stream\nexcept ImportError:\n    Stream = object\n",
     "try:\n    from torch_npu.npu import Stream\nexcept ImportError:\n    Stream = object\n"),
    ("def f():\n    from torch.cuda import Event, amp\n    amp.GradScaler()\n",
     'def f():\n    from torch_npu.npu import Event\n    from torch import amp\n    amp.GradScaler("npu")\n'),
    ("if on: from torch.cuda import Event, nvtx\n",
     "if on: from torch_npu.npu import Event; from torch.cuda import nvtx\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), MOVED)
def test_imports_move_once(before: str, after: str) -> None:
    assert migrated(before) == after
    assert migrated(after) == after
    ast.parse(after)


def test_what_the_npu_lacks_stays_behind() -> None:
    code = "from torch.cuda import Event, nccl as n, nvtx\n"
    assert migrated(code) == "from torch_npu.npu import Event\nfrom torch.cuda import nccl as n, nvtx\n"
    (blocked,) = [remark for remark in remarks_of(code) if remark.outcome == "blocked"]
    assert blocked.name == "torch.cuda.nccl"
    again = migrated(code)
    assert migrated(again) == again


MISSING = [
    ("from torch.cuda import nccl\n", "blocked"),
    ("from torch.cuda.comm import broadcast\n", "blocked"),
    ("from torch.cuda.green_contexts import GreenContext\n", "blocked"),
    ("from torch.cuda import _lazy_init\n", "manual"),
    ("from torch.cuda._utils import _check\n", "manual"),
    ("try:\n    from torch.cuda import nccl\nexcept ImportError:\n    pass\n", "manual"),
    ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch.cuda import nccl\n", "note"),
]


@pytest.mark.parametrize(("code", "outcome"), MISSING)
def test_missing_names_are_named(code: str, outcome: str) -> None:
    (found,) = remarks_of(code)
    assert (found.outcome, found.edits) == (outcome, ())


LEFT = [
    ("import torch.cuda as tc\ntc.nvtx.mark('a')\ntc.synchronize()\n", "torch.cuda.nvtx"),
    ("from torch import cuda\ncuda.comm.scatter(x)\n", "torch.cuda.comm"),
    ("from torch import cuda\ncuda.random.fork(x)\n", "torch.cuda.random.fork"),
    ("import torch.cuda.nccl as n\nn.version()\n", "torch.cuda.nccl"),
    ("from torch import cuda\ncuda = run()\n", "bound twice"),
    ("from torch.cuda import *\n", "which names"),
    ("from torch.cuda import amp\nrun(amp)\n", "used as a module"),
    ("from torch.cuda import (  # all of it\n    Event,\n    nvtx,\n)\n", "comment"),
]


@pytest.mark.parametrize(("code", "why"), LEFT)
def test_what_cannot_move_is_left_whole(code: str, why: str) -> None:
    (found,) = remarks_of(code)
    assert found.outcome == "manual"
    assert why in found.detail
    assert migrated(code) == code


@pytest.mark.parametrize(("style", "outcome"), [("agnostic", "manual"), ("shim", "note")])
def test_the_other_styles_leave_imports(style: Style, outcome: str) -> None:
    for code in ("from torch.cuda import Event\n", "from torch import cuda\n", "import torch.cuda as tc\n"):
        (found,) = remarks_of(code, style)
        assert (found.outcome, found.edits) == (outcome, ())
    assert remarks_of("import torch.cuda\n", style) == []
