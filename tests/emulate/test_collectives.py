"""Two ranks over hccl compute what two ranks over gloo on the CPU do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("two_ranks.py")
LAUNCHER = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def ranks(kind: str, folder: Path) -> dict[str, Any]:
    """What rank 0 prints."""
    program = [sys.executable, *LAUNCHER, str(SCRIPT), kind, str(folder / kind)]
    if kind == "npu":
        program = [sys.executable, "-m", "trainwright", "emulate", "--devices", "2", "--", *program]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(program, capture_output=True, text=True, env=env, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return found


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("ranks")
    return ranks("cpu", folder), ranks("npu", folder)


def test_collectives_answer_what_they_should(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    for found in answers:
        assert found["collectives"] == {
            "sum": [10, 12, 14, 16],
            "mean": [5, 6, 7, 8],
            "max": [10, 11, 12, 13],
            "all_gather": [0, 1, 2, 3, 10, 11, 12, 13],
            "reduce_scatter": [10, 12],
            "all_to_all": [0, 1, 10, 11],
            "broadcast": [10, 11, 12, 13],
            "exchange": [10, 11, 12, 13],
            "objects": [{"rank": 0}, {"rank": 1}],
            "bfloat16": [2, 2],
        }


@pytest.mark.parametrize("what", ["ddp", "static", "unused", "fsdp2", "fsdp2 bfloat16", "resumed", "dtensor"])
def test_training_gives_the_losses_of_the_cpu(what: str, answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    cpu, npu = answers
    assert npu[what] == cpu[what]


def test_autocast_is_close_to_that_of_the_cpu(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    cpu, npu = answers  # the lists of operators differ: layer_norm and mean are in float32 on the NPU
    assert npu["autocast"] == pytest.approx(cpu["autocast"], rel=0.02)


def test_hccl_knows_no_cpu_tensors(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    assert answers[0]["refused"] == ""
    assert "No backend type associated with device type cpu" in answers[1]["refused"]
