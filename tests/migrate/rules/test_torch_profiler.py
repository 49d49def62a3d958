"""The profiler of torch moves to torch_npu.profiler as a whole, or not at all."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.torch_profiler import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced


def remarks_of(code: str, style: Style = "npu") -> list[Remark]:
    return scan_python(python_source("train.py", code.encode()), Project(), Options(style=style), [RULE])


def migrated(code: str) -> str:
    source = python_source("train.py", code.encode())
    remarks = compatible(remarks_of(code))
    remarks = [remark for remark in remarks if remark.safety == "safe"]
    moved = spliced(source, [edit for remark in remarks for edit in remark.edits]).decode()
    return moved.replace("import torch_npu\n", "")


UNTOUCHED = [
    "from other.profiler import profile, ProfilerActivity\nprofile(activities=[ProfilerActivity.CUDA])\n",
    "import torch\nwith torch.profiler.record_function('a'): ...\n",
    "import torch\ntorch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]).start()\n",
    "import torch\ntorch.autograd.profiler.profile(use_cuda=False)\n",
    'columns = ["cuda_time_total"]\n',
]


@pytest.mark.parametrize("code", UNTOUCHED)
def test_nothing_else_is_touched(code: str) -> None:
    assert remarks_of(code) == []


SPELLED = """\
import torch
kinds = [torch.profiler.ProfilerActivity.CPU]
if on:
    kinds.append(torch.profiler.ProfilerActivity.CUDA)
def done(p: torch.profiler.profile) -> None:
    p.export_chrome_trace(f"{step}.json")
with torch.profiler.profile(
    activities=kinds,  # all
    schedule=torch.profiler.schedule(wait=1, warmup=1, active=2),
    on_trace_ready=done,
    with_stack=True,
) as p:
    with torch.profiler.record_function("step"):
        p.step()
"""
IMPORTED = """\
import torch
from torch.profiler import ProfilerActivity, profile as p, record_function, tensorboard_trace_handler
with p(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], on_trace_ready=tensorboard_trace_handler("a")) as q:
    q.step()
"""
MOVED = [
    (
        SPELLED,
        SPELLED.replace("torch.profiler.", "torch_npu.profiler.")
        .replace("torch_npu.profiler.record_function", "torch.profiler.record_function")
        .replace(".CUDA", ".NPU"),
    ),
    (
        IMPORTED,
        IMPORTED.replace(".CUDA", ".NPU").replace(
            "from torch.profiler import ProfilerActivity, profile as p, record_function, tensorboard_trace_handler",
            "from torch_npu.profiler import ProfilerActivity, profile as p, tensorboard_trace_handler\n"
            "from torch.profiler import record_function",
        ),
    ),
    (
        "import torch\nwith torch.profiler.profile() as p: ...\n",
        "import torch\nwith torch_npu.profiler.profile() as p: ...\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), MOVED)
def test_the_profiler_of_a_file_moves_as_a_whole(before: str, after: str) -> None:
    assert migrated(before) == after
    assert remarks_of(after) == []


HEAD = "import torch\nfrom torch.profiler import ProfilerActivity, profile, schedule\n"
CUDA = "activities=[ProfilerActivity.CUDA]"
HELD = [
    (f"with profile({CUDA}) as p: ...\np.key_averages().table()\n", "no key_averages()"),
    (f"with profile({CUDA}) as p: ...\np.events()\n", "no events()"),
    (f"with profile({CUDA}) as p: ...\np.export_chrome_trace('a.json.gz')\n", ".json only"),
    (f"with profile({CUDA}) as p: ...\nshow(p)\n", "not seen here"),
    (f"def f():\n    p = profile({CUDA}) if on else None\n    return p\n", "not seen here"),
    (f"c = profile({CUDA})\nwith c as p: ...\nshow(what=p)\n", "not seen here"),
    (f"profile({CUDA}, acc_events=True)\n", "no acc_events"),
    (f"profile({CUDA}, **more)\n", "before the call runs"),
    (f"profile({CUDA}, schedule=schedule(wait=1, warmup=1, active=1, skip_first_wait=1))\n", "no skip_first_wait"),
    (f"from plan import steps\nprofile({CUDA}, schedule=steps)\n", "where schedule comes from"),
    ("profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.XPU])\n", "no ProfilerActivity.XPU"),
    ("profile(activities=[kinds[k] for k in ks])\nx = ProfilerActivity.CUDA\n", "where activities comes from"),
    (f"class P(profile): ...\nprofile({CUDA})\n", "handed on"),
    ("run(ProfilerActivity.CUDA)\n", "elsewhere"),
    (f"__all__ = ['profile']\nprofile({CUDA})\n", "__all__"),
]


@pytest.mark.parametrize(("code", "why"), HELD)
def test_what_does_not_fit_holds_everything_back(code: str, why: str) -> None:
    found = remarks_of(HEAD + code)
    assert [remark.outcome for remark in found] == ["manual"]
    assert why in found[0].detail
    assert migrated(HEAD + code) == HEAD + code


MANUAL = [
    ('t.table(sort_by="cuda_time_total", row_limit=9)', "device_time_total"),
    ('t.table(sort_by="self_cuda_memory_usage")', "operator_details.csv"),
    ("torch.autograd.profiler.profile(use_cuda=True)", "torch_npu.profiler.profile()"),
    ("torch.autograd.profiler.profile(use_device='cuda')", "torch_npu.profiler.profile()"),
]


@pytest.mark.parametrize(("code", "advice"), MANUAL)
def test_what_has_no_counterpart_is_named(code: str, advice: str) -> None:
    (found,) = remarks_of(f"import torch\n{code}\n")
    assert found.outcome == "manual"
    assert advice in found.advice


def test_the_metric_of_stacks_has_another_name() -> None:
    (found,) = remarks_of('p.export_stacks(path, "self_cuda_time_total")\n')
    assert (found.safety, found.edits[0].new) == ("unsafe", "self_npu_time_total")


@pytest.mark.parametrize(("style", "outcome"), [("agnostic", "manual"), ("shim", "note")])
def test_the_other_styles_leave_the_profiler(style: Style, outcome: str) -> None:
    (found,) = remarks_of(f"{HEAD}profile({CUDA})\n", style)
    assert (found.outcome, found.edits) == (outcome, ())
