"""`trainwright emulate`: runs a program, keeps its exit code, says what was particular."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def emulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "trainwright", "emulate", *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)


def python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    return emulate(*options, "--", sys.executable, "-c", code)


def test_a_program_finds_the_device() -> None:
    code = "import torch, torch_npu; print(torch.npu.device_count(), torch.ones(2, device='npu:2').sum().item())"
    done = python(code, "--devices", "3", "--memory", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 2.0\n")
    assert "EMULATED: 3 x Ascend910B3, 2 GiB each" in done.stderr


def test_the_exit_code_is_the_programs() -> None:
    assert python("import sys; sys.exit(7)").returncode == 7


def test_json_has_the_processes_and_faults(tmp_path: Path) -> None:
    profile = tmp_path / "faults.yaml"
    profile.write_text("faults: [{operator: gelu, fault: wrong-constant}, {operator: mm, fault: off-by-one}]")
    code = "import torch; x = torch.ones(256, device='npu'); torch.nn.functional.gelu(x); print('hello')"
    done = python(code, "--fault", str(profile), "--json")
    answer = json.loads(done.stdout)
    assert answer["emulated"] is True
    table = answer["tables"]["processes"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert [(row["rank"], row["peak_bytes"], row["faulty_calls"]) for row in rows] == [(None, 2048, 1)]
    assert answer["tables"]["emulated_operators"]["rows"] == [
        ["gelu", "fault wrong-constant", 1],
        ["mm", "fault off-by-one", 0],
    ]
    assert [finding["code"] for finding in answer["findings"]] == ["emulate-idle-fault"]
    assert "hello" in done.stderr


def test_processes_without_torch_are_left_alone() -> None:
    done = python("import sys; print('torch' in sys.modules)")
    assert done.stdout.startswith("False\n")


def test_a_sitecustomize_of_the_user_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.MINE = 5")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    program = [sys.executable, "-m", "trainwright", "emulate", "--", sys.executable, "-c", "print(MINE)"]
    done = subprocess.run(program, capture_output=True, text=True, env=env, check=False)
    assert done.stdout.startswith("5\n"), done.stderr


WRONG = [
    ((), "no program was given"),
    (("--", "no-such-program"), "there is no program 'no-such-program'"),
    (("--chip", "h100", "--", "true"), "there is no chip called 'h100'"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_use_is_said(arguments: tuple[str, ...], message: str) -> None:
    done = emulate(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_wrong_settings_end_the_program() -> None:
    done = python("import torch", "--fault", "nothing")
    assert done.returncode == 2
    assert "there is no fault profile 'nothing'" in done.stderr
