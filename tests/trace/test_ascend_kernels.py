"""Rows of an operator summary find their slices by name and start, exactly or nearly."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from trainwright.trace.ascend_kernels import KernelRows, is_operator_summary, match_rows

EPOCH = 1_736_412_474_725_417_508


def kernels(*rows: tuple[int, int]) -> KernelRows:
    """Rows of (start since the epoch, code of the name)."""
    none = np.full(len(rows), -1, np.int64)
    text = pa.nulls(len(rows), pa.string())
    return KernelRows(
        start=EPOCH + np.array([start for start, _ in rows], np.int64), dur=none, wait=none, stream=none, task=none,
        name=np.array([name for _, name in rows], np.int32), device=none, blocks=none, op_type=text, core=text,
        shapes=text, dtypes=text, formats=text,
    )  # fmt: skip


def match(slices: list[tuple[int, int]], *rows: tuple[int, int]) -> list[int]:
    """Index of the slice (start, name) of each row."""
    start = EPOCH + np.array([start for start, _ in slices], np.int64)
    return match_rows(start, np.array([name for _, name in slices], np.int32), kernels(*rows)).tolist()


def test_name_and_start_must_both_fit() -> None:
    assert match([(0, 1), (0, 2), (5_000, 1)], (5_000, 1), (0, 2), (0, 3)) == [2, 1, -1]


def test_the_nth_of_equal_rows_takes_the_nth_of_equal_slices() -> None:
    assert match([(0, 1), (0, 1), (0, 1)], (0, 1), (0, 1)) == [0, 1]
    assert match([(0, 1)], (0, 1), (0, 1)) == [0, -1]


def test_starts_that_were_rounded_find_the_nearest_free_slice_of_the_name() -> None:
    assert match([(0, 1), (1_400, 1), (9_000, 1)], (600, 1), (1_399, 1)) == [0, 1]
    assert match([(0, 1), (700, 1)], (0, 1), (1, 1)) == [0, 1]  # the first is taken exactly
    assert match([(0, 1)], (1_001, 1)) == [-1]
    assert match([(0, 1)], (-999, 1), (999, 1)) == [0, -1]


def test_nothing_matches_nothing() -> None:
    assert match([], (0, 1)) == [-1]
    assert match([(0, 1)]) == []
    assert match([(0, -1)], (0, -1)) == [0]


def test_a_row_can_be_empty() -> None:
    taken = kernels((1, 1), (2, 2)).take(np.array([1, -1]))
    assert taken.start.tolist() == [EPOCH + 2, -1]
    assert taken.core.to_pylist() == [None, None]


def test_an_operator_summary_is_known_by_its_columns() -> None:
    assert is_operator_summary(["Name", "Accelerator Core", "Start Time(us)", "Duration(us)"])
    assert is_operator_summary(["Op Name", "Task Type", "Task Start Time(us)", "Task Duration(us)"])
    assert not is_operator_summary(["Name", "Start Time(us)", "Duration(us)"])
    assert not is_operator_summary([])
