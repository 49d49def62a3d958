"""Ctrl-C in native code, which makes another exception of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.trace.make_trace import slice_event, write_trace
from trainwright.cli.interrupts import noted_interrupts
from trainwright.cli.main import main


def _interrupted(_options: object) -> int:
    """What DuckDB makes of Ctrl-C."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None
    return 0


def test_an_interrupt_that_became_another_error_is_noted() -> None:
    before = signal.getsignal(signal.SIGINT)
    with noted_interrupts() as interrupts, pytest.raises(RuntimeError):
        _interrupted(None)
    assert interrupts.seen
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_of_somebody_else_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noted_interrupts() as interrupts:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert not interrupts.seen
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_analysis_that_is_interrupted_ends_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from trainwright.cli.command import COMMANDS

    trace = write_trace(tmp_path / "rank0.json", [slice_event("a", 1, 2)])
    command = COMMANDS["analyze"]
    monkeypatch.setitem(command.__dict__, "run", _interrupted)
    assert main(["analyze", str(trace)]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_query_that_is_interrupted_ends_with_130(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "rank0.json", [slice_event("a", 1, 2)])
    query = "SELECT count(*) FROM range(1000000000000) WHERE range % 7 = 3"
    running = subprocess.Popen(
        [sys.executable, "-m", "trainwright", "sql", str(trace), query],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(4)
    running.send_signal(signal.SIGINT)
    try:
        _, said = running.communicate(timeout=30)
    finally:
        running.kill()
    assert running.returncode == 130, said
    assert "internal error" not in said
