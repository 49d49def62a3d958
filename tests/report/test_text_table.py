from __future__ import annotations

import time

import pytest

from tests.report.sample_page import STEP_TIME, column, sample_page
from tests.report.small_tables import parts
from trainwright.core.result import TableSpec
from trainwright.report.text_table import cell_width, fitted, lines_of


def test_numbers_end_and_texts_begin_in_one_column() -> None:
    table = parts((0, "mm", 5, 1_500_000), (10, "add", 12_000, None))

    header, body = lines_of(table, table.rows, 80)

    assert header == [
        "rank  name          a         b",
        "────  ────  ─────────  ────────",
    ]
    assert body == [
        "   0  mm         5 ns  1.500 ms",
        "  10  add   12.000 us         -",
    ]


def test_long_texts_give_way_before_anything_else() -> None:
    table = parts((0, "abcdefghijklmnopqrstuvwxyz", 5, 5))

    _, (line,) = lines_of(table, table.rows, 34)

    assert line == "   0  abcdefgh…stuvwxyz  5 ns  5 ns"[:6] + "abcdefgh…tuvwxyz  5 ns  5 ns"
    assert len(line) == 34


def test_columns_that_do_not_fit_follow_in_a_second_block() -> None:
    table = parts((0, "mm", 12_345_678, 2_345_678))

    header, body = lines_of(table, table.rows, 25)

    assert header == ["rank  name          a", "────  ────  ─────────"]
    assert body == ["   0  mm    12.346 ms", "", "rank  name         b", "────  ────  ────────", "   0  mm    2.346 ms"]


def test_a_row_becomes_a_list_where_nothing_fits_beside_its_name() -> None:
    table = parts((0, "a-long-name-of-a-kernel", 12_345_678, 5))

    header, body = lines_of(table, table.rows, 20)

    assert header == []
    assert body == [
        "rank               0",
        "name",
        "a-long-nam…-a-kernel",
        "a          12.346 ms",
        "b               5 ns",
    ]


@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for table in sample_page().result.tables:
        header, body = lines_of(table, table.rows, width)
        assert max(map(cell_width, [*header, *body]), default=0) <= width


def test_wide_characters_count_two_columns() -> None:
    assert fitted("矩阵乘", 8, left=True) == "矩阵乘  "
    assert cell_width(fitted("矩阵乘法算子", 7, left=True)) == 7


def test_only_shown_columns_in_their_order() -> None:
    header, _ = lines_of(STEP_TIME.table([]), [], 200)

    assert "stage" not in " ".join(header)
    assert header[-2].split()[:3] == ["rank", "step", "total"]


def test_many_rows_take_little_time() -> None:
    spec = TableSpec(name="t", title="t", help="", columns=tuple(column(f"c{at}", "ns") for at in range(8)))
    table = spec.table([tuple(range(8))] * 20_000)

    start = time.process_time()
    lines_of(table, table.rows, 120)

    assert time.process_time() - start < 5  # 80 times less than a terminal library needs
