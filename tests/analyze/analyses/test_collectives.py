"""Collectives matched across ranks: arrival, waiting, transfer, the last to arrive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analyze.make_run import RankBuilder, make_run
from trainwright.analyze.analyses.collectives import analyze
from trainwright.trace.ingest import open_run

Build = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def matched(tmp_path: Path) -> Build:
    """Records of the table for some ranks."""
    return lambda *ranks: analyze(make_run(ranks, tmp_path)).table("collectives").records()


def brief(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """Some columns of all rows."""
    return [tuple(row[name] for name in names) for row in rows]


def test_waiting_ends_when_the_last_rank_arrives(matched: Build) -> None:
    ranks = [
        RankBuilder(0).comm("ar", 100, 200, group="dp", seq=7, bytes=64),
        RankBuilder(1).comm("ar", 160, 201, group="dp", seq=7, bytes=64),
        RankBuilder(2).comm("ar", 130, 199, group="dp", seq=7, bytes=64),
    ]
    columns = ("group", "seq", "op", "bytes", "rank", "arrive_ns", "wait_ns", "transfer_ns", "last_rank", "ranks")
    assert brief(matched(*ranks), *columns) == [
        ("dp", 7, "allreduce", 64, 0, 100, 60, 40, 1, 3),
        ("dp", 7, "allreduce", 64, 1, 160, 0, 41, 1, 3),
        ("dp", 7, "allreduce", 64, 2, 130, 30, 39, 1, 3),
    ]


def test_without_numbers_the_collectives_of_an_operator_are_counted(matched: Build) -> None:
    first = RankBuilder(0).comm("ar", 0, 50).comm("ag", 60, 90, op="allgather").comm("ar", 100, 110)
    second = RankBuilder(1).comm("ar", 40, 50).comm("ag", 85, 90, op="allgather").comm("ar", 90, 110)
    rows = matched(first, second)
    assert brief(rows, "op", "seq", "rank", "wait_ns", "last_rank") == [
        ("allreduce", 0, 0, 40, 1),
        ("allreduce", 0, 1, 0, 1),
        ("allgather", 0, 0, 25, 1),
        ("allgather", 0, 1, 0, 1),
        ("allreduce", 1, 0, 0, 0),
        ("allreduce", 1, 1, 10, 0),
    ]


def test_recorded_numbers_match_windows_that_begin_elsewhere(matched: Build) -> None:
    first = RankBuilder(0).comm("ar", 0, 10, group="g", seq=4).comm("ar", 20, 30, group="g", seq=5)
    second = RankBuilder(1).comm("ar", 25, 30, group="g", seq=5)
    assert brief(matched(first, second), "seq", "rank", "wait_ns", "ranks") == [
        (4, 0, None, 1),
        (5, 0, 5, 2),
        (5, 1, 0, 2),
    ]


def test_slices_that_share_a_number_are_matched_in_order(matched: Build) -> None:
    ranks = [
        RankBuilder(rank).comm("a", 0, 10 + rank, group="g", seq=1).comm("b", 20, 30, group="g", seq=1)
        for rank in range(2)
    ]
    assert brief(matched(*ranks), "seq", "rank", "arrive_ns", "ranks") == [
        (1, 0, 0, 2),
        (1, 1, 0, 2),
        (1, 0, 20, 2),
        (1, 1, 20, 2),
    ]


def test_groups_of_one_name_and_different_members_are_different(matched: Build) -> None:
    ranks = []
    for rank, members in ((0, "[0, 1]"), (1, "[0, 1]"), (2, "[2, 3]"), (3, "[2, 3]")):
        builder = RankBuilder(rank).row("groups", group="tp", size=2, ranks=members)
        ranks.append(builder.comm("ar", 10 * rank, 100, group="tp", seq=0))
    assert brief(matched(*ranks), "group", "rank", "wait_ns", "ranks") == [
        ("tp [0, 1]", 0, 10, 2),
        ("tp [0, 1]", 1, 0, 2),
        ("tp [2, 3]", 2, 10, 2),
        ("tp [2, 3]", 3, 0, 2),
    ]


def test_different_operators_under_one_number_are_not_matched(matched: Build) -> None:
    first = RankBuilder(0).comm("ar", 0, 10, group="g", seq=1)
    second = RankBuilder(1).comm("ag", 0, 10, group="g", seq=1, op="allgather")
    assert brief(matched(first, second), "ranks", "wait_ns") == [(1, None), (1, None)]


def test_clocks_of_hosts_are_aligned_and_that_is_said(tmp_path: Path) -> None:
    """Rank 1 runs 1 s ahead; it arrives 30 us after rank 0 all the same."""
    first, second = RankBuilder(0), RankBuilder(1)
    for at in range(3):
        start = at * 10**8
        first.comm("ar", start, start + 100_000, group="g", seq=at)
        second.comm("ar", start + 30_000 + 10**9, start + 100_000 + 10**9, group="g", seq=at)
    result = analyze(make_run([first, second], tmp_path))
    rows = result.table("collectives").records()
    assert brief(rows[:2], "wait_ns", "transfer_ns", "last_rank") == [(30_000, 70_000, 1), (0, 70_000, 1)]
    (note,) = result.quality
    assert (note.code, note.count) == ("clocks-aligned", 1)
    assert "rank 1 is 1.000 s" in note.example


def test_collectives_of_two_jobs_are_not_matched(tmp_path: Path) -> None:
    """Two jobs of two ranks, the second 66 s later: each waits for its own last rank, and no clock is corrected."""
    later = 66 * 10**9
    ranks = [
        RankBuilder(0, claims=0, place="a").comm("ar", 100, 200),
        RankBuilder(1, claims=1, place="a").comm("ar", 150, 200),
        RankBuilder(2, claims=0, place="b").comm("ar", later + 130, later + 200),
        RankBuilder(3, claims=1, place="b").comm("ar", later + 120, later + 200),
    ]
    result = analyze(make_run(ranks, tmp_path))
    rows = result.table("collectives").records()
    assert brief(rows, "job", "rank", "wait_ns", "last_rank", "ranks") == [
        (0, 0, 50, 1, 2),
        (0, 1, 0, 1, 2),
        (1, 2, 0, 2, 2),
        (1, 3, 10, 2, 2),
    ]
    (note,) = result.quality
    assert (note.code, note.count) == ("several-jobs", 2)
    assert "ranks 0-1; ranks 2-3;" in note.example


def test_a_copied_file_is_no_member_of_the_collective(tmp_path: Path) -> None:
    ranks = [
        RankBuilder(0, claims=0).comm("ar", 100, 200, group="g", seq=1),
        RankBuilder(1, claims=1).comm("ar", 150, 200, group="g", seq=1),
        RankBuilder(2, claims=0).comm("ar", 100, 200, group="g", seq=1),
    ]
    result = analyze(make_run(ranks, tmp_path))
    assert brief(result.table("collectives").records(), "rank", "ranks") == [(0, 2), (1, 2), (2, 1)]
    assert result.table("collective_waits").column("rank") == [0, 1]
    assert [note.code for note in result.quality] == ["several-jobs"]


def test_counts_that_differ_are_a_note(tmp_path: Path) -> None:
    first = RankBuilder(0).comm("ar", 0, 10, group="g").comm("ar", 20, 30, group="g").comm("bc", 40, 50, op="broadcast")
    second = RankBuilder(1).comm("ar", 0, 10, group="g").comm("bc", 40, 50, op="broadcast")
    (note,) = analyze(make_run([first, second], tmp_path)).quality
    assert (note.code, note.count) == ("collective-counts-differ", 1)
    assert note.example == "allreduce of group g: rank 1 has 1, rank 0 has 2"


def test_transfers_between_two_ranks_are_left_out(matched: Build) -> None:
    ranks = [RankBuilder(0).comm("s", 0, 10, op="send"), RankBuilder(1).comm("r", 0, 10, op="recv")]
    assert matched(*ranks) == []


def test_waits_by_rank_add_up_to_the_durations(tmp_path: Path) -> None:
    first = RankBuilder(0).comm("ar", 0, 50, group="g", seq=0).comm("ar", 60, 70, group="g", seq=1)
    second = RankBuilder(1).comm("ar", 20, 52, group="g", seq=0).comm("ar", 55, 70, group="g", seq=1)
    second.comm("ar", 80, 99, group="g", seq=2)  # its partner was not recorded
    table = analyze(make_run([first, second], tmp_path)).table("collective_waits")
    assert table.rows == [(0, 2, 20, 40, 1), (1, 2, 5, 42, 1)]
    assert [sum(row[2:4]) for row in table.rows] == [50 + 10, 32 + 15]


def test_a_run_without_communication_has_no_rows(tmp_path: Path) -> None:
    result = analyze(make_run([RankBuilder(0).device("k", 0, 1)], tmp_path))
    assert [table.rows for table in result.tables] == [[], []]
    assert result.quality == ()


@pytest.mark.shared_data
def test_arrivals_of_dlrm(profiles: Path) -> None:
    """Sums per rank as TraceLens gives them; rank 7 is the latest, rank 2 never is."""
    table = analyze(open_run([profiles / "param" / "dlrm_kineto"])).table("collective_waits")
    assert [wait // 1000 for wait in table.column("wait_ns")] == [5580, 11125, 3280, 9571, 6370, 6041, 3342, 1534]
    assert [(row[2] + row[3]) // 1000 for row in table.rows] == [5798, 11336, 3492, 9774, 6587, 6251, 3558, 1746]
    last = table.column("arrived_last")
    assert (last.index(max(last)), last[2]) == (7, 0)


@pytest.mark.shared_data
def test_the_slow_rank_of_a_made_run_waits_least(profiles: Path) -> None:
    table = analyze(open_run([profiles / "made_cpu" / "ddp4_slow_rank2_compute"])).table("collective_waits")
    total = [row["wait_ns"] + row["transfer_ns"] for row in table.records()]
    assert total.index(min(total)) == 2
    assert table.column("wait_ns").index(min(table.column("wait_ns"))) == 2


@pytest.mark.shared_data
def test_two_made_jobs_read_together_are_as_each_by_itself(profiles: Path) -> None:
    folders = [profiles / "made_cpu" / name for name in ("ddp4_healthy", "ddp4_slow_rank2_compute")]
    both = analyze(open_run(folders))
    alone = [row[1:] for folder in folders for row in analyze(open_run([folder])).table("collective_waits").rows]
    assert [row[1:] for row in both.table("collective_waits").rows] == alone
    assert set(both.table("collectives").column("ranks")) == {4}
    assert [note.code for note in both.quality] == ["several-jobs"]
