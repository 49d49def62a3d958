"""Outputs never fall on what is read, whatever way leads there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trace.make_trace import kernel_event, slice_event, step_event, write_trace
from trainwright.cli.main import main


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    events = [step_event(1, 0, 100), slice_event("aten::mm", 5, 2), kernel_event("gemm", 10, 30, correlation=1)]
    return write_trace(tmp_path / "run" / "rank0.json", events)


@pytest.mark.parametrize("command", [["analyze"], ["ingest"], ["sql"]])
@pytest.mark.parametrize("option", ["--html", "--csv"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_output_on_an_input_is_refused(
    command: list[str], option: str, force: list[str], trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = trace.read_bytes()
    folder = trace.parent
    elsewhere = folder.parent
    (elsewhere / "file_link").symlink_to(trace)
    (elsewhere / "folder_link").symlink_to(folder)
    query = ["SELECT 1"] if command == ["sql"] else []
    for run, target in (
        (folder, trace), (trace, trace), (folder, elsewhere / "file_link"), (elsewhere / "file_link", trace),
        (folder, folder / "new"), (folder, elsewhere / "folder_link" / "new"),
        (elsewhere / "folder_link", folder / "x"),
        (folder, folder), (folder, folder / "sub" / ".." / "new"), (trace, folder),
    ):  # fmt: skip
        assert main([*command, str(run), *query, option, str(target), *force]) == 2
        assert f"{option} {target} would" in capsys.readouterr().err
    assert trace.read_bytes() == before
    assert list(folder.iterdir()) == [trace]


def test_an_input_behind_a_link_in_the_run_is_no_output(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = tmp_path / "real.json"
    trace.rename(real)
    trace.symlink_to(real)
    before = real.read_bytes()
    assert main(["analyze", str(trace.parent), "--html", str(real), "--force"]) == 2
    assert "which is read" in capsys.readouterr().err
    assert real.read_bytes() == before


def test_force_replaces_our_page_and_no_other_file(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    arguments = ["analyze", str(trace), "--html", str(page)]
    assert main(arguments) == 0
    assert main([*arguments, "--force"]) == 0
    page.write_text("<!DOCTYPE html>\n<p>a page of somebody else")
    assert main([*arguments, "--force"]) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert page.read_text().endswith("somebody else")


def test_the_next_commands_can_be_typed(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "my run's"
    trace.parent.rename(run)

    def following(*runs: str) -> list[str]:
        assert main(["analyze", *runs, "--only", "step-time"]) == 0
        _, _, steps = capsys.readouterr().out.partition("\nNext\n")
        return [line.strip() for line in steps.splitlines()]

    quoted = "'" + str(run).replace("'", "'\"'\"'") + "'"
    page, query = following(str(run))
    assert page == f"trainwright analyze {quoted} --html report.html"
    assert query.startswith(f'trainwright sql {quoted} "SELECT')
    assert following(str(run), str(run / "rank0.json")) == [
        f"trainwright analyze {quoted} {quoted[:-1]}/rank0.json' --html report.html"
    ]
    monkeypatch.chdir(run)
    assert following(".")[0] == "trainwright analyze . --html ../report.html"


def test_analyze_ends_with_1_when_a_rank_cannot_be_read(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(trace.parent)]) == 0
    (trace.parent / "rank1.json").write_bytes(b'{"traceEvents": [{"ph": "X", "name": }, {')
    assert main(["analyze", str(trace.parent)]) == 1
    assert "rank-not-read" in capsys.readouterr().out
