"""Standard output and error that are full, closed or gone; names that are not UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trace.make_trace import slice_event, write_trace
from trainwright.cli.main import main


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "rank0.json", [slice_event(f"op{at}", at, 1) for at in range(3000)])


def shell(script: str, trace: Path) -> tuple[int, str]:
    """Run a script with ``$tw`` and ``$run``; its exit code and what came out."""
    names = {"tw": f"{sys.executable} -m trainwright", "run": str(trace)}
    command = ["bash", "-o", "pipefail", "-c", script]
    done = subprocess.run(command, env={**os.environ, **names}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("$tw ingest $run > /dev/full", 2, "cannot write to standard output: No space left on device"),
        ("$tw sql $run 'SELECT * FROM slices' --json > /dev/full", 2, "No space left on device"),
        ("$tw ingest $run >&-", 2, "standard output is closed"),
        ("$tw ingest $run --json 2>&- | tail -1", 0, "}"),
        ("$tw ingest /no/such/run 2>/dev/full", 2, ""),
        ("$tw sql $run 'SELECT * FROM slices' --json | head -1", 0, "{"),
    ],
)  # fmt: skip
def test_streams_that_fail_are_no_internal_error(script: str, code: int, said: str, trace: Path) -> None:
    ended, text = shell(script, trace)
    assert ended == code, text
    assert said in text
    assert "internal error" not in text
    assert "Exception ignored" not in text


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_names_that_are_not_utf_8_are_shown(
    form: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / os.fsdecode(b"r\xfcn")
    odd.mkdir()
    monkeypatch.setenv("TRAINWRIGHT_CACHE", str(odd / "store"))
    write_trace(odd / os.fsdecode(b"rank0_\xff.json"), [slice_event("a", 1, 2)])
    outputs = ["--csv", str(tmp_path / "tables"), "--html", str(tmp_path / os.fsdecode(b"page\xff.html"))]
    assert main(["analyze", str(odd), *form, *outputs]) == 0
    assert main(["ingest", str(odd), *form, "--where", "rank = 0"]) == 0
    assert main(["sql", str(odd), "SELECT * FROM ranks", *form]) == 0
    assert main(["cache", "list", *form]) == 0
    capsys.readouterr().out.encode()


def test_an_empty_path_is_not_the_current_folder(
    tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in ([""], [".", ""], [".", "--csv", ""], [".", "--html", ""]):
        with pytest.raises(SystemExit) as ended:
            main(["analyze", *arguments])
        assert ended.value.code == 2
        assert "the path is empty" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["0", "-1", "many", "1.5", " "])
def test_a_wrong_number_of_jobs_is_named(
    jobs: str, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAINWRIGHT_JOBS", jobs)
    assert main(["analyze", str(trace)]) == 2
    assert f"TRAINWRIGHT_JOBS is {jobs!r}" in capsys.readouterr().err


def test_sql_shows_the_first_rows_and_counts_the_rest(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = ["sql", str(trace), "SELECT name FROM slices ORDER BY row"]
    assert main([*query, "--top", "2"]) == 0
    shown = capsys.readouterr().out
    assert "op1" in shown
    assert "op2" not in shown
    assert "… 2,998 more rows" in shown
    assert main(query) == 0
    assert "… 2,000 more rows" in capsys.readouterr().out
    assert main([*query, "--json"]) == 0
    assert capsys.readouterr().out.count("op") == 3000
    assert main([*query, "--where", "name = 'op2999'"]) == 0
    assert "op2999" in capsys.readouterr().out
