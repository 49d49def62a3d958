"""Charts as SVG text inside HTML: horizontal bars, exact, readable without colour, no script and no outside reference.

Colours are those of Okabe and Ito, which people with any colour vision tell apart; each also has its own texture.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from trainwright.core.result import Column, Table
from trainwright.core.units import format_value
from trainwright.report.axis import Axis, Number, axis_for
from trainwright.report.chart_data import Bar, Bars, bars_of
from trainwright.report.wording import heading, printable, shortened

#: Most bars drawn, by kind of chart.
MOST_BARS = {"stacked": 64, "bars": 20}

# All lengths in pixels.
WIDTH = 960
RIGHT = 84  # room for the value of each bar
TOP = 22  # room for the labels of the ticks
ROW = 20
BAR = 14
LABEL_CHARS = 44
CHAR = 6.7  # advance of the monospaced label font
GAP = 8  # between a label and its bar

PALETTE = ("#0072b2", "#e69f00", "#999999", "#56b4e9", "#cc79a7", "#009e73", "#d55e00", "#f0e442")
NEGATIVE = 6  # position of vermilion, for bars below zero

_TEXTURES = (
    "",
    '<path d="M0 6L6 0" stroke="#fff" stroke-opacity=".55" stroke-width="1.4"/>',
    '<circle cx="3" cy="3" r="1" fill="#fff" fill-opacity=".7"/>',
    '<path d="M0 0L6 6" stroke="#fff" stroke-opacity=".6" stroke-width="1.4"/>',
    '<path d="M0 3H6" stroke="#fff" stroke-opacity=".55" stroke-width="1.2"/>',
    '<path d="M3 0V6" stroke="#fff" stroke-opacity=".55" stroke-width="1.2"/>',
    '<path d="M0 3H6M3 0V6" stroke="#fff" stroke-opacity=".5" stroke-width="1"/>',
    '<path d="M0 6L6 0M0 0L6 6" stroke="#333" stroke-opacity=".4" stroke-width="1"/>',
)


def figure(table: Table) -> str:
    """The chart of a table as an HTML ``figure``; empty when it has no chart or no rows."""
    chart = table.spec.chart
    bars = bars_of(table, limit=MOST_BARS[chart.kind]) if chart else None
    if bars is None:
        return ""
    caption = " · ".join(part for part in (_says(bars), bars.note) if part)
    legend = _legend(bars) if bars.chart.kind == "stacked" else ""
    return f"<figure>{legend}{_svg(bars, table.spec.title)}<figcaption>{escape(caption)}</figcaption></figure>\n"


def patterns() -> str:
    """The textures of all charts; stands once on a page."""
    tiles = "".join(
        f'<pattern id="fill{at}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" fill="{colour}"/>{texture}</pattern>'
        for at, (colour, texture) in enumerate(zip(PALETTE, _TEXTURES, strict=True))
    )
    return f'<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>{tiles}</defs></svg>\n'


def _says(bars: Bars) -> str:
    names = ", ".join(heading(column) for column in bars.columns)
    return printable(f"{names} per {', '.join(bars.chart.label)}")


def _legend(bars: Bars) -> str:
    items = "".join(
        f'<li title="{escape(printable(column.help))}"><svg width="14" height="14" aria-hidden="true">'
        f'<rect width="14" height="14" fill="{_fill(at)}"/></svg>{escape(heading(column))}</li>'
        for at, column in enumerate(bars.columns)
    )
    return f'<ul class="legend">{items}</ul>'


def _svg(bars: Bars, title: str) -> str:
    stacked = bars.chart.kind == "stacked"
    axis = axis_for((sum(bar.values) if stacked else bar.values[0] for bar in bars.bars), bars.columns[0].unit)
    left = _left(bars)
    length = WIDTH - left - RIGHT
    height = TOP + ROW * len(bars.bars) + 4
    parts = [*_grid(axis, left, length, height)]
    for at, bar in enumerate(bars.bars):
        y = TOP + ROW * at
        segments = _stacked(bar, bars.columns) if stacked else _single(bar, bars.columns[0])
        parts.append(f'<text class="label" x="{_px(left - GAP)}" y="{y + 11}">{_short_label(bar)}</text>')
        parts.extend(_rect(segment, left, length, y, axis) for segment in segments)
        total = format_value(sum(bar.values), bars.columns[0].unit)
        parts.append(f'<text class="value" x="{WIDTH - 2}" y="{y + 11}">{escape(total)}</text>')
    opening = f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(printable(title))}">'
    return f"{opening}{''.join(parts)}</svg>"


def _left(bars: Bars) -> float:
    """Where the bars begin: right of the longest label."""
    longest = max(len(bar.label) for bar in bars.bars)
    return round(min(longest, LABEL_CHARS) * CHAR + GAP + 2, 1)


def _short_label(bar: Bar) -> str:
    short = escape(shortened(bar.label, LABEL_CHARS))
    return short if len(bar.label) <= LABEL_CHARS else f"{short}<title>{escape(bar.label)}</title>"


def _grid(axis: Axis, left: float, length: float, height: int) -> Iterator[str]:
    for value, label in axis.ticks:
        x = _px(left + axis.at(value, length))
        yield f'<path class="grid" d="M{x} {TOP - 6}V{height}"/>'
        yield f'<text class="tick" x="{x}" y="{TOP - 10}">{label}</text>'


#: Start and end on the axis, number of the colour, and what a pointer is told.
_Segment = tuple[Number, Number, int, str]


def _stacked(bar: Bar, columns: tuple[Column, ...]) -> Iterator[_Segment]:
    total = sum(bar.values)
    start: Number = 0
    for at, (value, column) in enumerate(zip(bar.values, columns, strict=True)):
        if value:
            text = f"{heading(column)} {format_value(value, column.unit)} ({100 * value / total:.1f} %)"
            yield start, start + value, at, f"{bar.label}: {text}"
        start += value


def _single(bar: Bar, column: Column) -> Iterator[_Segment]:
    value = bar.values[0]
    if value:
        text = f"{bar.label}: {heading(column)} {format_value(value, column.unit)}"
        yield min(value, 0), max(value, 0), 0 if value > 0 else NEGATIVE, text


def _rect(segment: _Segment, left: float, length: float, y: int, axis: Axis) -> str:
    start, end, colour, text = segment
    x0, x1 = (axis.at(value, length) for value in (start, end))
    return (
        f'<rect x="{_px(left + x0)}" y="{y}" width="{_px(x1 - x0)}" height="{BAR}" fill="{_fill(colour)}">'
        f"<title>{escape(text)}</title></rect>"
    )


def _fill(at: int) -> str:
    return f"url(#fill{at % len(PALETTE)})"


def _px(length: float) -> str:
    """A length in pixels with at most two decimals."""
    return f"{length:.2f}".rstrip("0").rstrip(".")
