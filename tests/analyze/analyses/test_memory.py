"""Peaks, and what was alive at them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.memory import OPERATORS, analyze


def peaks(builder: RankBuilder, tmp_path: Path) -> tuple[list[Any], list[Any]]:
    """Rows of both tables without the rank."""
    result = analyze(builder.build(tmp_path))
    return [[row[1:] for row in table.rows] for table in result.tables]  # type: ignore[return-value]


def test_sampled_totals(tmp_path: Path) -> None:
    builder = RankBuilder()
    for ts, allocated, reserved in ((30, 70, 90), (10, 50, 80), (20, 70, 95)):
        builder.row(
            "memory_usage",
            ts_ns=ts,
            device="npu:0",
            component="PTA",
            allocated_bytes=allocated,
            reserved_bytes=reserved,
        )
    builder.row("memory_usage", ts_ns=5, device="npu:0", component="APP", reserved_bytes=200)
    memory, alive = peaks(builder, tmp_path)
    assert sorted(memory) == [
        ("npu:0 APP reserved", 200, 5, "samples"),
        ("npu:0 PTA allocated", 70, 20, "samples"),
        ("npu:0 PTA reserved", 95, 20, "samples"),
    ]
    assert alive == []


def test_recorded_totals_and_what_was_alive(tmp_path: Path) -> None:
    """1000 bytes from before the trace, of which 200 are released before the peak at 50."""
    builder = RankBuilder().host("aten::linear", 0, 45).host("aten::mm", 8, 25).host("aten::add", 41, 60)
    for ts, size, address, total in (
        (10, 300, 1, 1300),  # aten::mm, alive at the peak
        (20, 50, 2, 1350),
        (30, -50, 2, 1300),
        (40, -200, 99, 1100),  # allocated before the trace
        (50, 400, 2, 1500),  # aten::add: the peak
        (70, -300, 1, 1200),
    ):
        builder.memory(ts, size, address=address, device="cuda:0", allocated_bytes=total, reserved_bytes=2048)
    memory, alive = peaks(builder, tmp_path)
    assert memory == [("cuda:0 allocated", 1500, 50, "allocator"), ("cuda:0 reserved", 2048, 10, "allocator")]
    assert alive == [
        ("cuda:0 allocated", "aten::add", 400, 1),
        ("cuda:0 allocated", "aten::mm", 300, 1),
        ("cuda:0 allocated", "(allocated before the trace)", 800, 0),
    ]


def test_without_totals_they_are_summed_from_zero(tmp_path: Path) -> None:
    builder = RankBuilder().memory(10, 100, address=1).memory(20, -40, address=7).memory(30, 30, address=2)
    builder.memory(40, -100, address=1)
    memory, alive = peaks(builder, tmp_path)
    assert memory == [("cpu allocated", 100, 10, "events")]
    assert alive == [("cpu allocated", "(no operator)", 100, 1)]
    more = RankBuilder().memory(20, -40, address=7).memory(30, 130, address=2)
    assert peaks(more, tmp_path)[1] == [
        ("cpu allocated", "(no operator)", 130, 1),
        ("cpu allocated", "(allocated before the trace)", -40, 0),
    ]


def test_an_address_that_is_allocated_again_was_free(tmp_path: Path) -> None:
    builder = RankBuilder().memory(10, 100, address=1, allocated_bytes=100)
    builder.memory(20, 60, address=1, allocated_bytes=160)
    assert peaks(builder, tmp_path)[1] == [
        ("cpu allocated", "(no operator)", 60, 1),
        ("cpu allocated", "(allocated before the trace)", 100, 0),
    ]


def test_without_addresses_sizes_are_paired_like_brackets(tmp_path: Path) -> None:
    builder = RankBuilder().host("first", 0, 5).host("second", 10, 15).host("third", 30, 35)
    for ts, size in ((1, 8), (11, 8), (20, -8), (31, 9)):
        builder.memory(ts, size, address=-1)
    assert peaks(builder, tmp_path)[1] == [("cpu allocated", "third", 9, 1), ("cpu allocated", "first", 8, 1)]


def test_release_times_of_the_source_are_used(tmp_path: Path) -> None:
    builder = RankBuilder().memory(10, 100, address=1, release_ns=25, op="aten::a")
    builder.memory(20, 50, address=1, release_ns=90, op="aten::b").memory(30, 60, address=1, op="aten::c")
    memory, alive = peaks(builder, tmp_path)
    assert memory == [("cpu allocated", 150, 20, "events")]
    assert alive == [("cpu allocated", "aten::a", 100, 1), ("cpu allocated", "aten::b", 50, 1)]


def test_of_operators_on_several_threads_the_last_started_is_taken(tmp_path: Path) -> None:
    builder = RankBuilder().host("outer", 0, 100).host("worker", 10, 40, thread="second").host("late", 20, 25)
    builder.memory(30, 5, address=1).memory(50, 6, address=2)
    assert peaks(builder, tmp_path)[1] == [("cpu allocated", "outer", 6, 1), ("cpu allocated", "worker", 5, 1)]


def test_many_operators_become_one_row_and_still_add_up(tmp_path: Path) -> None:
    builder = RankBuilder()
    for at in range(OPERATORS + 5):
        builder.memory(at, at + 1, address=at, op=f"op{at}")
    alive = peaks(builder, tmp_path)[1]
    assert len(alive) == OPERATORS + 1
    assert alive[-1] == ("cpu allocated", "(other operators)", 1 + 2 + 3 + 4 + 5, 5)
    assert sum(row[2] for row in alive) == sum(range(1, OPERATORS + 6))


def test_devices_are_kept_apart(tmp_path: Path) -> None:
    builder = RankBuilder().memory(10, 5, device="cuda:0").memory(20, 7, device="cpu").memory(30, -5, device="cuda:0")
    memory, _ = peaks(builder, tmp_path)
    assert memory == [("cuda:0 allocated", 5, 10, "events"), ("cpu allocated", 7, 20, "events")]


def test_without_memory_there_are_no_rows(tmp_path: Path) -> None:
    assert peaks(RankBuilder().host("a", 0, 1), tmp_path) == [[], []]
