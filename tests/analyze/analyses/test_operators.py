"""Operators: self and total time on the host, device time of what they launched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyze.make_run import RankBuilder, make_run
from trainwright.analyze.analyses.operators import analyze
from trainwright.trace.ingest import open_run


def example() -> RankBuilder:
    """outer [0, 100) calls mm [10, 30) twice, the second inside itself [15, 25); a launch takes [12, 14)."""
    builder = RankBuilder(3).host("outer", 0, 100, external_id=1, shapes="[[2]]")
    builder.host("mm", 10, 30, external_id=2, shapes="[[2],[3]]").host("mm", 15, 25, external_id=3, shapes="[[4]]")
    builder.host("cudaLaunchKernel", 12, 14, kind="runtime", link=1)
    builder.device("gemm", 200, 260, external_id=2).device("gemm", 260, 280, external_id=3)
    return builder.device("fill", 300, 310, kind="memset", external_id=1).device("graph", 320, 330)


def test_times_by_name(tmp_path: Path) -> None:
    table = analyze(example().build(tmp_path)).table("operators")
    names = ("rank", "name", "count", "self_ns", "device_ns", "total_ns", "device_total_ns", "share")
    assert tuple(table.column_names) == names
    assert table.rows == [
        (3, "mm", 2, 8 + 10, 80, 20, 80, 0.8),
        (3, "outer", 1, 80, 10, 100, 90, 0.1),
        (3, "(no operator)", 0, 0, 10, 0, 10, 0.1),
    ]


def test_times_by_shapes(tmp_path: Path) -> None:
    table = analyze(example().build(tmp_path)).table("operator_shapes")
    assert table.rows == [
        (3, "mm", "[[2],[3]]", 1, 8, 60),
        (3, "mm", "[[4]]", 1, 10, 20),
        (3, "outer", "[[2]]", 1, 80, 10),
    ]


def test_parts_add_up_to_the_whole(tmp_path: Path) -> None:
    rank = example().build(tmp_path)
    result = analyze(rank)
    on_thread = [row["self_ns"] for row in rank.table("slices").to_pylist() if row["kind"] in ("op", "runtime")]
    assert sum(on_thread) == 100  # the thread is busy from 0 to 100
    assert sum(result.table("operators").column("self_ns")) == 100 - 2  # the launch is not an operator
    assert sum(result.table("operator_shapes").column("self_ns")) == 98
    assert sum(result.table("operators").column("device_ns")) == 60 + 20 + 10 + 10


def test_without_a_device_the_share_is_of_host_time(tmp_path: Path) -> None:
    rank = RankBuilder().host("a", 0, 30).host("b", 40, 50).build(tmp_path)
    table = analyze(rank).table("operators")
    assert table.column("name") == ["a", "b"]
    assert table.column("share") == [0.75, 0.25]
    assert analyze(rank).table("operator_shapes").rows == []


@pytest.mark.shared_data
def test_the_extra_work_of_a_slow_rank_is_visible(profiles: Path) -> None:
    run = open_run([profiles / "made_cpu" / "ddp4_slow_rank2_compute"])
    calls = {}
    for rank in run.ranks:
        rows = analyze(rank).table("operator_shapes").rows
        calls[rank.rank] = sum(row[3] for row in rows if row[1:3] == ("aten::mm", "[[600,600],[600,600]]"))
    assert calls == {0: 0, 1: 0, 2: 18, 3: 0}  # 6 in each of 3 steps


def test_an_empty_rank_has_no_rows(tmp_path: Path) -> None:
    result = analyze(make_run([RankBuilder()], tmp_path).ranks[0])
    assert [table.rows for table in result.tables] == [[], []]
