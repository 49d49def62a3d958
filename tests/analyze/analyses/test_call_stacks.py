"""Call stacks: written by the profiler, or out of the Python functions around an operator."""

from __future__ import annotations

from pathlib import Path

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.call_stacks import FRAMES, ROWS, analyze


def test_written_stacks(tmp_path: Path) -> None:
    builder = RankBuilder().host("a", 0, 10, stack="f.py(3): g\nmain.py(1): <module>", external_id=1)
    builder.host("b", 10, 14, stack="f.py(3): g;main.py(1): <module>", external_id=2)
    builder.host("c", 20, 50, stack="h.py(9): k", external_id=3).host("d", 60, 99)
    builder.device("k", 100, 107, external_id=2)
    table = analyze(builder.build(tmp_path)).table("call_stacks")
    assert table.rows == [
        (0, "f.py(3): g\nmain.py(1): <module>", 2, 7, 14),
        (0, "h.py(9): k", 1, 0, 30),
    ]


def test_stacks_from_python_functions_without_addresses(tmp_path: Path) -> None:
    builder = RankBuilder().host("main", 0, 100, kind="python")
    for start, address in ((10, "0x7f10"), (40, "0x7f22")):
        builder.host(f"<built-in method conv2d of type object at {address}>", start, start + 20, kind="python")
        builder.host("aten::conv2d", start + 5, start + 15)
    builder.host("aten::add", 70, 80)
    table = analyze(builder.build(tmp_path)).table("call_stacks")
    assert table.rows == [
        (0, "<built-in method conv2d of type object>\nmain", 2, 0, 20),
        (0, "main", 1, 0, 10),
    ]


def test_deep_stacks_are_told_apart_by_their_innermost_frames(tmp_path: Path) -> None:
    builder = RankBuilder()
    for depth in range(FRAMES + 5):
        builder.host(f"f{depth}", depth, 100 - depth, kind="python")
    builder.host("aten::add", 40, 50)
    stack = analyze(builder.build(tmp_path)).table("call_stacks").column("stack")[0]
    assert str(stack).split("\n") == [f"f{depth}" for depth in range(FRAMES + 4, 4, -1)]


def test_the_table_is_cut_at_the_largest(tmp_path: Path) -> None:
    builder = RankBuilder()
    for at in range(ROWS + 10):
        builder.host("op", 1000 * at, 1000 * at + at + 1, stack=f"frame {at}")
    table = analyze(builder.build(tmp_path)).table("call_stacks")
    assert len(table.rows) == ROWS
    assert table.rows[0] == (0, f"frame {ROWS + 9}", 1, 0, ROWS + 10)


def test_without_stacks_there_are_no_rows(tmp_path: Path) -> None:
    assert analyze(RankBuilder().host("op", 0, 5).build(tmp_path)).table("call_stacks").rows == []
