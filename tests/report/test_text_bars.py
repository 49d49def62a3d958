from __future__ import annotations

from tests.report.small_tables import parts, sizes
from trainwright.report.text_bars import bar_lines, segments


def test_segments_share_the_room_exactly() -> None:
    assert segments((50, 25, 25), 100, 8) == "████▓▓░░"
    assert segments((1, 1, 1), 3, 10) == "███▓▓▓▓░░░"
    assert segments((0, 0), 5, 10) == ""


def test_a_chart_has_a_legend_a_bar_per_row_and_totals() -> None:
    lines = bar_lines(parts((0, "x", 60, 20), (1, "y", 40, 0)), limit=10, width=30)

    # 30 columns less 6 for the label, 5 for the total and 4 between leave 15 for 80 ns.
    assert [text for text, _ in lines] == [
        "█ a   ▓ b",
        "rank 0  ███████████▓▓▓▓  80 ns",
        "rank 1  ████████         40 ns",
    ]


def test_rows_left_out_are_said() -> None:
    lines = bar_lines(parts(*((rank, "x", 1, 1) for rank in range(5))), limit=2, width=80)

    assert lines[1][0] == "the first 2 of 5 rows"
    assert len(lines) == 4


def test_no_bars_without_room_or_anything_to_draw() -> None:
    assert bar_lines(parts((0, "x", 1, 1)), limit=5, width=20) == []
    assert bar_lines(parts((0, "x", 0, 0)), limit=5, width=80) == []
    assert bar_lines(sizes([("a", 1)]), limit=5, width=80) == []
