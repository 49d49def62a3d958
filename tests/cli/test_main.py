"""The command line from outside: exit codes, JSON contract, messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.trace.make_trace import kernel_event, slice_event, step_event, write_trace
from trainwright.cli.main import main


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    events = [
        step_event(1, 0, 100),
        slice_event("cudaLaunchKernel", 5, 2, cat="cuda_runtime", correlation=1),
        kernel_event("gemm", 10, 30, correlation=1),
        kernel_event("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 30, 40, stream=20, correlation=2),
    ]
    return write_trace(tmp_path / "rank0.json", events)


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    out = capsys.readouterr().out
    return dict(json.loads(out, parse_constant=lambda text: pytest.fail(f"not strict JSON: {text}")))


def test_analyze_answers_by_the_contract_and_its_parts_add_up(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(trace), "--json"]) == 0
    document = answer(capsys)
    assert (document["schema"], document["command"]) == ("trainwright/1", "analyze")
    tables = document["tables"]
    assert isinstance(tables, dict)
    assert {"step_time", "scheduling", "operators", "kernels", "collectives", "memory", "ranks"} <= set(tables)
    step = dict(zip(tables["step_time"]["columns"], tables["step_time"]["rows"][0], strict=True))
    # by hand: computing 10..40, communication 30..70, so 10 us overlap; the stage is 10..70
    assert (step["computing_ns"], step["communication_ns"], step["overlapped_ns"]) == (30_000, 40_000, 10_000)
    assert (step["not_overlapped_ns"], step["free_ns"], step["bubble_ns"]) == (30_000, 0, 0)
    assert (step["stage_ns"], step["preparing_ns"], step["tail_ns"]) == (60_000, 10_000, 30_000)
    assert step["total_ns"] == 100_000


def test_ingest_names_the_store_and_counts_events(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", str(trace), "--json"]) == 0
    document = answer(capsys)
    table = document["tables"]["ranks"]  # type: ignore[index]
    row = dict(zip(table["columns"], table["rows"][0], strict=True))
    assert (row["rank"], row["events"], row["lost"], row["repaired"]) == (0, 4, 0, 0)
    assert Path(str(document["store"])).is_dir()


def test_sql_reads_and_only_reads(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT name, dur_ns FROM timeline WHERE kind = 'kernel'"
    assert main(["sql", str(trace), query, "--json"]) == 0
    assert answer(capsys)["tables"]["result"]["rows"] == [["gemm", 30_000]]  # type: ignore[index]
    for bad in (
        "DROP TABLE slices",
        "SELECT 1; SELECT 2",
        "SELEC",
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY slices TO 'x'",
    ):
        assert main(["sql", str(trace), bad]) == 2
        assert "trainwright sql:" in capsys.readouterr().err


def test_sql_joins_and_tells_stored_tables_from_those_of_analyses(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = {
        "SELECT stream FROM slices JOIN kernels USING (rank, event) WHERE name = 'gemm'": [[7]],
        "SELECT name, total_ns FROM analysis.kernels WHERE name = 'gemm'": [["gemm", 30_000]],
        "SELECT computing_ns FROM step_time": [[30_000]],
        "WITH k AS (SELECT * FROM analysis.kernels) SELECT count(*) FROM k": [[2]],
    }
    for query, rows in queries.items():
        assert main(["sql", str(trace), query, "--json"]) == 0
        assert answer(capsys)["tables"]["result"]["rows"] == rows  # type: ignore[index]


def test_ingest_ends_with_1_when_a_rank_cannot_be_read(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (trace.parent / "rank1.json").write_bytes(b'{"traceEvents": [{"ph": "X", "name": }, {')
    assert main(["ingest", str(trace.parent), "--json"]) == 1
    assert [entry["code"] for entry in answer(capsys)["quality"]] == ["rank-not-read"]  # type: ignore[index,union-attr]


def test_where_filters_and_says_when_it_cannot(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(trace), "--json", "--only", "kernels", "--where", "name = 'gemm'"]) == 0
    names = [row[1] for row in answer(capsys)["tables"]["kernels"]["rows"]]  # type: ignore[index]
    assert names == ["gemm"]
    assert main(["analyze", str(trace), "--where", "no_such_column = 1"]) == 2
    assert "fits no table" in capsys.readouterr().err
    for bad in ("bad (", "1 = 1); DROP TABLE x; --", "rank IN (SELECT 1 FROM other)"):
        assert main(["analyze", str(trace), "--where", bad]) == 2
        assert "--where" in capsys.readouterr().err


def test_a_file_of_no_format_and_a_bad_setting_are_named(
    tmp_path: Path, trace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.json").touch()
    (tmp_path / "noise.db").write_bytes(bytes(range(256)))
    for name, reason in (("empty.json", "the file is empty"), ("noise.db", "no known format")):
        assert main(["analyze", str(tmp_path / name)]) == 2
        assert f"{name}: {reason}" in capsys.readouterr().err
    monkeypatch.setenv("TRAINWRIGHT_MAX_BYTES", "abc")
    assert main(["ingest", str(trace)]) == 2
    assert capsys.readouterr().err.startswith("trainwright ingest: environment variable TRAINWRIGHT_MAX_BYTES")


def test_csv_and_html_are_written_and_never_overwritten_without_force(trace: Path, tmp_path: Path) -> None:
    outputs = ["--csv", str(tmp_path / "tables"), "--html", str(tmp_path / "page.html")]
    assert main(["analyze", str(trace), *outputs]) == 0
    assert (tmp_path / "tables" / "step_time.csv").exists()
    assert "<table" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert main(["analyze", str(trace), *outputs]) == 2
    assert main(["analyze", str(trace), *outputs, "--force"]) == 0


@pytest.mark.parametrize(
    "arguments", [["analyze", "/no/such/folder"], ["ingest", __file__], ["analyze", __file__, "--only", "nothing"]]
)
def test_wrong_input_ends_with_2_and_says_what_to_do(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert "What to do" in captured.err
    assert captured.out == ""


def test_cache_lists_and_clears(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["ingest", str(trace), "--json"])
    capsys.readouterr()
    assert main(["cache", "list", "--json"]) == 0
    assert len(answer(capsys)["tables"]["store"]["rows"]) == 1  # type: ignore[index]
    assert main(["cache", "clear", "--json"]) == 0
    capsys.readouterr()
    assert main(["cache", "list", "--json"]) == 0
    assert answer(capsys)["tables"]["store"]["rows"] == []  # type: ignore[index]


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "analyze" in capsys.readouterr().out
