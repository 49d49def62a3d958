"""SQL: names, the rows that are fetched, and messages that help."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.analyze.make_run import RankBuilder, make_run
from trainwright.analyze import query
from trainwright.analyze.query import filter_tables, run_query
from trainwright.core.errors import InputError
from trainwright.core.result import Column, Table, TableSpec
from trainwright.trace.ingest import open_run
from trainwright.trace.store import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    rank = RankBuilder(0)
    for at in range(5):
        rank.host(f"op{at}", 10 * at, 10 * at + 5)
    return make_run([rank], tmp_path)


def rows(run: Run, text: str, most: int | None = None) -> Table:
    return run_query(run, text, most=most).table("result")


@pytest.mark.parametrize("most", [None, 1])
def test_columns_of_one_name_are_told_apart(run: Run, most: int | None) -> None:
    text = "SELECT a.name, b.name, a.dur_ns AS name FROM slices a JOIN slices b USING (row) ORDER BY 1 LIMIT 1"
    table = rows(run, text, most)
    assert table.column_names == ["name", "name_2", "name_3"]
    assert [column.unit for column in table.spec.columns] == ["text", "text", "id"]
    assert table.rows == [("op0", "op0", 5)]


def test_names_of_tables_have_no_case(run: Run) -> None:
    assert rows(run, "SELECT count(*) FROM SLICES").rows == [(5,)]
    assert rows(run, "SELECT count(*) FROM Analysis.Step_Time").rows == [(1,)]


def test_only_the_rows_asked_for_are_fetched_and_the_others_counted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT row FROM slices ORDER BY row"
    for most, unread in ((None, 0), (9, 0), (5, 0), (4, 1), (2, 3)):
        table = rows(run, text, most)
        assert [row for (row,) in table.rows] == list(range(5))[:most]
        assert (table.unread, table.unread_or_more) == (unread, False)
    monkeypatch.setattr(query, "MOST_COUNTED", 3)
    table = rows(run, text, 1)
    assert (table.rows, table.unread, table.unread_or_more) == ([(0,)], 3, True)


def test_a_result_that_never_ends_is_no_trouble(run: Run) -> None:
    table = rows(run, "SELECT range FROM range(1000000000000)", 2)
    assert (table.rows, table.unread, table.unread_or_more) == ([(0,), (1,)], query.MOST_COUNTED, True)


def test_an_unknown_table_is_named_with_one_of_ours(run: Run) -> None:
    for name, near in (("slice", "slices"), ("step_times", "step_time"), ("Timelines", "timeline")):
        with pytest.raises(InputError, match=f"no table {name}; did you mean {near}") as caught:
            rows(run, f"SELECT * FROM {name}")
        assert "sqlite" not in str(caught.value)
    with pytest.raises(InputError, match="no table qqqqqq") as caught:
        rows(run, "SELECT * FROM qqqqqq")
    assert "did you mean" not in str(caught.value)


def test_a_query_writes_nothing_where_the_user_is(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    text = "SELECT current_setting('temp_directory') AS at, current_setting('max_temp_directory_size') AS size"
    ((at, size),) = rows(run, text).rows
    assert Path(str(at)).is_absolute()
    assert here not in Path(str(at)).parents
    assert size == "7.4 GiB"
    assert list(here.iterdir()) == []


def test_an_error_in_the_middle_of_a_result_is_the_fault_of_the_query(run: Run) -> None:
    for most in (None, 2):
        with pytest.raises(InputError, match="the query failed"):
            rows(run, "SELECT CAST(name AS INT) FROM slices", most)


def spec(name: str, *columns: str) -> TableSpec:
    made = tuple(Column(name=each, unit="text" if each == "name" else "id", help="") for each in columns)
    return TableSpec(name=name, title=name, help="", columns=made)


KERNELS = spec("kernels", "rank", "name").table([(0, "gemm"), (1, "gemm"), (1, "b\udcff")])
STEPS = spec("steps", "rank", "step").table([(0, 1), (1, 1)])


def test_a_condition_says_which_tables_it_left_whole() -> None:
    (kernels, steps), whole = filter_tables([KERNELS, STEPS], "name = 'gemm' AND RANK = 1")
    assert kernels.rows == [(1, "gemm")]
    assert (steps.rows, whole) == (STEPS.rows, ["steps"])
    _, whole = filter_tables([KERNELS, STEPS], "rank = 1")
    assert whole == []


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("name = 'gemm' AND step = 1", "none has all of its columns (name: kernels; step: steps)"),
        ("nam = 'gemm' AND step = 1", "none has a column nam"),
        ("rank = 'x'", "Conversion Error"),
    ],
)
def test_a_condition_that_fits_no_table_says_why(condition: str, why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        filter_tables([KERNELS, STEPS], condition)


def test_the_stored_collectives_name_the_operators_that_the_analyses_go_by(tmp_path: Path) -> None:
    rank = RankBuilder().host("nccl:all_to_all", 0, 10, kind="annotation")
    rank.host("cudaLaunchKernel", 2, 4, kind="runtime", link=1)
    rank.comm("ncclKernel_SendRecv", 50, 60, op="sendrecv", link=1, bytes=8)
    rank.row("collectives", event=99, op="send")  # details of an event that could not be read
    run = make_run([rank], tmp_path)
    assert rows(run, "SELECT op, bytes FROM collectives ORDER BY op").rows == [("alltoall", 8), ("send", -1)]
    assert rows(run, "SELECT op FROM communication").rows == [("alltoall",)]


@pytest.mark.shared_data
def test_communication_and_collectives_agree_on_a_real_rank(profiles: Path) -> None:
    """The first five kernels were launched before the recording began: what they are for is not known."""
    run = open_run([profiles / "hta/negative_queue_length_values_check"])
    joined = "SELECT op, sum(dur_ns)::BIGINT AS ns FROM slices JOIN collectives USING (rank, event) GROUP BY op"
    assert sorted(rows(run, joined).rows, key=str) == sorted(
        rows(run, "SELECT op, sum(total_ns)::BIGINT AS ns FROM communication GROUP BY op").rows, key=str
    )
    assert rows(run, "SELECT bubble_ns FROM step_time WHERE step = 550").rows == [(0,)]
