"""Stacked bars as text: one line per row of a table, one character per kind of segment."""

from __future__ import annotations

from trainwright.core.result import Table
from trainwright.core.units import format_value
from trainwright.report.axis import Number
from trainwright.report.chart_data import Bars, bars_of
from trainwright.report.text_table import cell_width, fitted
from trainwright.report.wording import heading

#: One character per segment, told apart without colour.
GLYPHS = "█▓░▒·=+x"
MOST_BARS = 64
_LEAST_BAR = 10
_MOST_BAR = 80
_MOST_LABEL = 40


def bar_lines(table: Table, *, limit: int | None, width: int) -> list[tuple[str, str]]:
    """Lines and styles of the chart of a table; none when it has no stacked chart, no time in it, or no room."""
    if table.spec.chart is None or table.spec.chart.kind != "stacked":
        return []
    bars = bars_of(table, limit=MOST_BARS if limit is None else min(limit, MOST_BARS))
    if bars is None or not any(sum(bar.values) for bar in bars.bars):
        return []
    totals = [format_value(sum(bar.values), bars.columns[0].unit) for bar in bars.bars]
    label_width = min(max(cell_width(bar.label) for bar in bars.bars), _MOST_LABEL, width // 3)
    total_width = max(map(len, totals))
    room = min(width - label_width - total_width - 4, _MOST_BAR)
    if room < _LEAST_BAR:
        return []
    longest = max(sum(bar.values) for bar in bars.bars)
    lines = [(line, "dim") for line in _legend(bars, width)]
    for bar, total in zip(bars.bars, totals, strict=True):
        drawn = segments(bar.values, longest, room)
        label = fitted(bar.label, label_width, left=True)
        lines.append((f"{label}  {drawn.ljust(room)}  {total.rjust(total_width)}", ""))
    return lines


def segments(values: tuple[Number, ...], longest: Number, room: int) -> str:
    """A bar in which `longest` takes `room` characters; borders are rounded, so that no error adds up."""
    drawn: list[str] = []
    start = 0
    before: Number = 0
    for at, value in enumerate(values):
        before += value
        end = round(before * room / longest)
        drawn.append(GLYPHS[at % len(GLYPHS)] * (end - start))
        start = end
    return "".join(drawn)


def _legend(bars: Bars, width: int) -> list[str]:
    lines = [""]
    for at, column in enumerate(bars.columns):
        item = f"{GLYPHS[at % len(GLYPHS)]} {heading(column)}"
        if lines[-1] and len(lines[-1]) + 3 + len(item) > width:
            lines.append("")
        lines[-1] += f"   {item}" if lines[-1] else item
    if bars.note:
        lines.append(fitted(bars.note, width, left=True).rstrip())
    return lines
