"""Which rows of a table are shown where not all can be."""

from __future__ import annotations

import pytest

from trainwright.core.result import Cell, Column, Table, TableSpec

COLUMNS = (
    Column(name="rank", unit="id", help="rank"),
    Column(name="device_ns", unit="ns", help="time on the device"),
    Column(name="host_ns", unit="ns", help="time on the host"),
)
ROWS: tuple[tuple[Cell, ...], ...] = ((0, 5, 1), (0, 3, 9), (0, None, 7), (1, 8, 0), (1, 3, 2), (1, 5, 1))


def table(*weight: str) -> Table:
    return TableSpec(name="t", title="T", help="", columns=COLUMNS, weight=weight).table(ROWS)


@pytest.mark.parametrize(
    ("most", "kept"),
    [
        (1, [3]),
        (2, [0, 3]),  # of rows that weigh the same the first
        (3, [0, 3, 5]),
        (4, [0, 1, 3, 5]),  # rows 1 and 4 are told apart by the host time
        (5, [0, 1, 3, 4, 5]),  # what is missing weighs least
        (6, [0, 1, 2, 3, 4, 5]),
        (None, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_the_heaviest_rows_are_kept_in_order(most: int | None, kept: list[int]) -> None:
    assert table("device_ns", "host_ns").heaviest(most) == kept


def test_without_a_weight_the_first_rows_are_kept() -> None:
    assert table().heaviest(2) == [0, 1]
