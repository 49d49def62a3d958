"""Mixed precision: torch.cuda.amp becomes torch.amp with the device, calls and imports together or not at all."""

from __future__ import annotations

import ast
import re

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Facts, Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.amp import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced

REGISTERED = re.compile(r" *import torch_npu\n")


def remarks_of(code: str, style: Style = "npu", project: Project | None = None, path: str = "train.py") -> list[Remark]:
    return scan_python(python_source(path, code.encode()), project or Project(), Options(style=style), [RULE])


def migrated(code: str, style: Style = "npu", project: Project | None = None) -> str:
    source = python_source("train.py", code.encode())
    remarks = compatible(remarks_of(code, style, project))
    assert all(remark.safety == "safe" for remark in remarks)
    return REGISTERED.sub("", spliced(source, [edit for remark in remarks for edit in remark.edits]).decode())


UNTOUCHED = [
    "from other.cuda.amp import autocast\nautocast()\n",
    "from apex import amp\namp.initialize(m, o)\n",
    'import torch\nwith torch.autocast("cpu"): ...\n',
    'import torch\ntorch.is_autocast_enabled("cpu")\ntorch.set_autocast_enabled("cpu", True)\n',
    "import torch\ntorch.is_autocast_cache_enabled()\nf = torch.is_autocast_enabled\n",
    "import torch.cuda as tc\nwith tc.amp.autocast(): ...\n",  # the import moves to torch.npu, which has amp, too
    '"""Like torch.cuda.amp.autocast."""\n',
]


@pytest.mark.parametrize("code", UNTOUCHED)
def test_nothing_else_is_touched(code: str) -> None:
    assert remarks_of(code) == []


CALLS = [
    ("torch.cuda.amp.autocast()", 'torch.amp.autocast("npu")'),
    ("torch.cuda.amp.autocast(True)", 'torch.amp.autocast("npu", enabled=True)'),
    ("torch.cuda.amp.autocast( on, d )", 'torch.amp.autocast( "npu", enabled=on, dtype=d )'),
    ("torch.cuda.amp.autocast(on, d, c)", 'torch.amp.autocast("npu", enabled=on, dtype=d, cache_enabled=c)'),
    ("torch.cuda.amp.autocast(on, dtype=d)", 'torch.amp.autocast("npu", enabled=on, dtype=d)'),
    ("torch.cuda.amp.autocast(enabled=on, **more)", 'torch.amp.autocast("npu", enabled=on, **more)'),
    ("torch.cuda.amp.autocast(\n    enabled=on,\n)", 'torch.amp.autocast("npu",\n    enabled=on,\n)'),
    ("torch.cuda.amp.autocast_mode.autocast()", 'torch.amp.autocast("npu")'),
    ("torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("npu")'),
    ("torch.cuda.amp.GradScaler(2.0, 3, enabled=on)", 'torch.amp.GradScaler("npu", 2.0, 3, enabled=on)'),
    ("torch.cuda.amp.GradScaler(*a, **k)", 'torch.amp.GradScaler("npu", *a, **k)'),
    ("torch.cuda.amp.grad_scaler.GradScaler()", 'torch.amp.GradScaler("npu")'),
    ("torch.cuda.amp.custom_fwd(f)", 'torch.amp.custom_fwd(f, device_type="npu")'),
    ("isinstance(s, torch.cuda.amp.GradScaler)", "isinstance(s, torch.amp.GradScaler)"),
    ("def f(s: torch.cuda.amp.GradScaler): ...", "def f(s: torch.amp.GradScaler): ..."),
    ("@torch.cuda.amp.custom_fwd\ndef f(): ...", '@torch.amp.custom_fwd(device_type="npu")\ndef f(): ...'),
    ("@torch.cuda.amp.custom_bwd\ndef f(): ...", '@torch.amp.custom_bwd(device_type="npu")\ndef f(): ...'),
    (
        "@torch.cuda.amp.custom_fwd(cast_inputs=torch.half)\ndef f(): ...",
        '@torch.amp.custom_fwd(device_type="npu", cast_inputs=torch.half)\ndef f(): ...',
    ),
    ("@torch.cuda.amp.autocast()\ndef f(): ...", '@torch.amp.autocast("npu")\ndef f(): ...'),
    ("torch.get_autocast_gpu_dtype()", 'torch.get_autocast_dtype("npu")'),
    ("torch.set_autocast_gpu_dtype(d)", 'torch.set_autocast_dtype("npu", d)'),
    ("torch.is_autocast_enabled()", 'torch.is_autocast_enabled("npu")'),
    ("torch.set_autocast_enabled(on)", 'torch.set_autocast_enabled("npu", on)'),
]


@pytest.mark.parametrize(("before", "after"), CALLS)
def test_calls_are_rewritten_once(before: str, after: str) -> None:
    head = "import torch\n"
    assert migrated(f"{head}{before}\n") == f"{head}{after}\n"
    assert migrated(f"{head}{after}\n") == f"{head}{after}\n"
    ast.parse(after)


IMPORTS = [
    (
        "from torch.cuda.amp import autocast, GradScaler as Scaler\ns = Scaler(enabled=on)\nwith autocast(True): ...\n",
        'from torch.amp import autocast, GradScaler as Scaler\ns = Scaler("npu", enabled=on)\n'
        'with autocast("npu", enabled=True): ...\n',
    ),
    (
        "from torch.cuda.amp import (  # precision\n    custom_bwd,\n    custom_fwd,\n)\n"
        "class F:\n    @custom_fwd\n    def a(): ...\n    @custom_bwd\n    def b(): ...\n",
        "from torch.amp import (  # precision\n    custom_bwd,\n    custom_fwd,\n)\n"
        'class F:\n    @custom_fwd(device_type="npu")\n    def a(): ...\n'
        '    @custom_bwd(device_type="npu")\n    def b(): ...\n',
    ),
    ("from torch.cuda.amp.grad_scaler import GradScaler\nGradScaler()\n",
     'from torch.amp import GradScaler\nGradScaler("npu")\n'),
    ("import torch.cuda.amp as amp\nwith amp.autocast(): ...\n",
     'import torch.amp as amp\nwith amp.autocast("npu"): ...\n'),
    ("import torch\nimport torch.cuda.amp\ntorch.cuda.amp.GradScaler()\n",
     'import torch\nimport torch.amp\ntorch.amp.GradScaler("npu")\n'),
    ("import torch\namp = torch.cuda.amp\namp.GradScaler()\n",
     'import torch\namp = torch.amp\namp.GradScaler("npu")\n'),
    ("import torch\ncast = torch.cuda.amp.autocast\nwith cast(on): ...\n",
     'import torch\ncast = torch.amp.autocast\nwith cast("npu", enabled=on): ...\n'),
    ("try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\nautocast()\n",
     'try:\n    from torch.amp import autocast\nexcept ImportError:\n    autocast = None\nautocast("npu")\n'),
    ("from functools import partial\nfrom torch.cuda.amp import autocast\nc = partial(autocast, dtype=d)\n",
     'from functools import partial\nfrom torch.amp import autocast\nc = partial(autocast, "npu", dtype=d)\n'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), IMPORTS)
def test_imports_and_their_uses_move_together(before: str, after: str) -> None:
    assert migrated(before) == after
    assert migrated(after) == after


LEFT = [
    ("from torch.cuda.amp import *\n", "which names"),
    ("from torch.cuda.amp import autocast\nrun(autocast)\n", "handed on"),
    ("from torch.cuda.amp import autocast\nautocast(*a)\n", "before the call runs"),
    ("from torch.cuda.amp import autocast\nautocast((on))\n", "bracket"),
    ("from torch.cuda.amp import autocast\n__all__ = ['autocast']\nautocast()\n", "__all__"),
    ("from torch.cuda.amp import amp_definitely_not_available as no\nno()\n", "torch.amp has no"),
    ("from torch.cuda.amp import GradScaler\nclass S(GradScaler): ...\n", "handed on"),
    ("import torch.cuda.amp as amp\nrun(amp)\n", "as a module"),
    ("import torch\nself.cast = torch.cuda.amp.autocast\n", "handed on"),
    ('import torch\ngetattr(torch, "cuda").amp.autocast()\n', "at run time"),
    ("import torch\nf = torch.get_autocast_gpu_dtype\n", "handed on"),
    ("from torch import get_autocast_gpu_dtype\nget_autocast_gpu_dtype()\n", "imported by itself"),
    (
        "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    from a import autocast\nautocast()\n",
        "something else",
    ),
]


@pytest.mark.parametrize(("code", "why"), LEFT)
def test_what_cannot_be_converted_is_left_whole(code: str, why: str) -> None:
    (found,) = [remark for remark in remarks_of(code) if remark.outcome == "manual"]
    assert why in found.detail
    assert found.advice
    assert migrated(code) == code


@pytest.mark.parametrize(
    "code",
    [
        "import torch\nif hasattr(torch.amp, 'custom_fwd'):\n    from torch.amp import custom_fwd\n"
        "else:\n    from torch.cuda.amp import custom_fwd\n@custom_fwd\ndef f(): ...\n",
        "import torch\nfrom functools import partial\ntry:\n"
        "    fwd = partial(torch.amp.custom_fwd, device_type=d)\n"
        "except AttributeError:\n    fwd = torch.cuda.amp.custom_fwd\n@fwd\ndef f(): ...\n",
    ],
)
def test_the_branch_for_an_old_torch_needs_nothing(code: str) -> None:
    (found,) = remarks_of(code)
    assert (found.outcome, found.minutes) == ("note", 0)


def test_what_another_file_imports_from_here_is_left() -> None:
    other = Facts(path="b.py", language="python", module="b", exports={"autocast": "train.autocast"})
    code = "from torch.cuda.amp import autocast\nautocast()\n"
    assert migrated(code, project=Project(modules={"b": other})) == code


def test_a_name_that_another_file_took_from_torch_is_named() -> None:
    facts = Facts(path="a.py", language="python", module="a", exports={"autocast": "torch.cuda.amp.autocast"})
    (found,) = remarks_of("from a import autocast\nautocast()\n", project=Project(modules={"a": facts}))
    assert (found.outcome, found.name) == ("manual", "torch.cuda.amp.autocast")


def test_the_agnostic_style_asks_torch() -> None:
    code = "import torch\nwith torch.cuda.amp.autocast(): ...\n"
    assert migrated(code, "agnostic") == code.replace(
        ".cuda.amp.autocast()", ".amp.autocast(str(torch.accelerator.current_accelerator()))"
    )
    code = "from torch.cuda.amp import autocast\nautocast()\n"
    assert migrated(code, "agnostic") == code  # torch itself is not at hand


def test_the_shim_does_it_at_run_time() -> None:
    (found,) = remarks_of("import torch\ntorch.cuda.amp.GradScaler()\n", "shim")
    assert (found.outcome, found.edits) == ("note", ())
