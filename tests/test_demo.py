"""The example job must train and leave two traces that have something in them to analyse."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "examples" / "demo" / "train.py"
PROFILED_STEPS = 3
SMALL = ["--profiled-steps", "3", "--batch", "4", "--length", "16", "--width", "32", "--layers", "1"]

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The output folder of one small run, and what the run printed."""
    pytest.importorskip("torch")
    out = tmp_path_factory.mktemp("demo") / "new" / "profile"
    command = [sys.executable, str(SCRIPT), "--out", str(out), *SMALL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


def load(out: Path, rank: int) -> dict[str, Any]:
    with gzip.open(out / f"rank{rank}.pt.trace.json.gz", "rt", encoding="utf-8") as file:
        trace: dict[str, Any] = json.load(file)
    return trace


def named(trace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event["name"] == name]


def test_the_loss_falls(demo: tuple[Path, str]) -> None:
    losses = [float(text) for text in re.findall(r"^step +\d+ +loss ([\d.]+)$", demo[1], flags=re.MULTILINE)]
    assert len(losses) == 3 + PROFILED_STEPS  # two idle steps and one warm-up step come first
    assert losses[-1] < losses[0] - 0.1


def test_only_one_trace_a_rank_is_written(demo: tuple[Path, str]) -> None:
    assert sorted(path.name for path in demo[0].iterdir()) == ["rank0.pt.trace.json.gz", "rank1.pt.trace.json.gz"]


@pytest.mark.parametrize("rank", [0, 1])
def test_trace_has_what_the_breakdown_shows(demo: tuple[Path, str], rank: int) -> None:
    trace = load(demo[0], rank)
    assert (trace["distributedInfo"]["rank"], trace["distributedInfo"]["world_size"]) == (rank, 2)
    assert trace["record_shapes"] == trace["profile_memory"] == 1
    steps = sorted(event["name"] for event in trace["traceEvents"] if event["name"].startswith("ProfilerStep#"))
    assert steps == ["ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5"]
    # Every step exchanges at least one bucket of gradients and the loss.
    assert len(named(trace, "gloo:all_reduce")) >= 2 * PROFILED_STEPS
    assert len(named(trace, "gc.collect")) == 1
    assert named(trace, "[memory]")


@pytest.mark.parametrize("rank", [0, 1])
def test_reading_a_batch_takes_the_time_it_is_told_to(demo: tuple[Path, str], rank: int) -> None:
    reads = named(load(demo[0], rank), "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
    assert len(reads) == PROFILED_STEPS
    assert all(event["dur"] >= 4 * 2000 for event in reads)  # us: four samples of 2 ms each
