from __future__ import annotations

import math

from tests.report.sample_page import LEAKS
from tests.report.small_tables import parts, sizes
from trainwright.report.chart_data import bars_of


def test_stacked_bars_keep_their_order_and_cannot_be_negative() -> None:
    bars = bars_of(parts((1, "x", 3, -4), (0, "y", None, math.nan)), limit=10)

    assert bars is not None
    assert [(bar.label, bar.values) for bar in bars.bars] == [("rank 1", (3, 0)), ("rank 0", (0, 0))]
    assert bars.note == "1 negative value drawn as 0"


def test_plain_bars_come_largest_first_by_magnitude() -> None:
    bars = bars_of(sizes([("a", 1), ("b", -5), ("c", None), ("d", 5), ("e", 3)]), limit=3)

    assert bars is not None
    assert [(bar.label, bar.values) for bar in bars.bars] == [("b", (-5,)), ("d", (5,)), ("e", (3,))]
    assert bars.note == "the largest 3 of 5 rows"


def test_a_label_leaves_out_columns_that_say_the_same_on_every_row() -> None:
    table = sizes([("same", 1), ("same", 2)])
    bars = bars_of(table, limit=10)

    assert bars is not None
    assert [bar.label for bar in bars.bars] == ["same", "same"]  # never all of them

    several = bars_of(parts((0, "x", 1, 1), (1, "y", 1, 1)), limit=1)
    assert several is not None
    assert several.bars[0].label == "rank 0"
    assert several.note == "the first 1 of 2 rows"


def test_no_chart_or_no_rows_means_no_bars() -> None:
    assert bars_of(parts(), limit=5) is None
    assert bars_of(LEAKS.table([("x",)]), limit=5) is None
