"""The bars of a chart out of a table, ready to be drawn on a page or in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainwright.core.result import Cell, Chart, Column, Table
from trainwright.report.axis import Number
from trainwright.report.cells import number
from trainwright.report.wording import heading, human


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar: its label for people, and a value for each column of the chart."""

    label: str
    values: tuple[Number, ...]


@dataclass(frozen=True, kw_only=True)
class Bars:
    """What a chart shows. `rows` counts the rows of the table, of which `bars` may be a part.

    Missing and non-finite values count as 0. A stacked bar cannot go below 0: `negative` counts the values that were
    raised to 0. `weighed` says that the heaviest rows of the table were taken.
    """

    chart: Chart
    columns: tuple[Column, ...]
    bars: tuple[Bar, ...]
    rows: int
    negative: int = 0
    weighed: bool = False

    @property
    def note(self) -> str:
        """What the chart does not show; empty when it shows all."""
        notes = []
        if len(self.bars) < self.rows:
            which = "largest" if self.chart.kind == "bars" or self.weighed else "first"
            notes.append(f"the {which} {len(self.bars):,} of {self.rows:,} rows")
        if self.negative:
            notes.append(f"{self.negative:,} negative {'value' if self.negative == 1 else 'values'} drawn as 0")
        return "; ".join(notes)


def bars_of(table: Table, *, limit: int) -> Bars | None:
    """The chart of a table: stacked bars in row order, of many rows the heaviest; plain bars largest first.

    None without a chart or rows.
    """
    chart = table.spec.chart
    if chart is None or not table.rows:
        return None
    names = table.column_names
    columns = tuple(table.spec.columns[names.index(name)] for name in chart.values)
    places = [names.index(name) for name in chart.values]
    rows = [table.rows[at] for at in table.heaviest(limit)] if chart.kind == "stacked" else table.rows
    if chart.kind == "bars":
        rows = sorted(rows, key=lambda row: -abs(number(row[places[0]])))
    labels = _label_places(table, chart)
    raw = [(row, [number(row[at]) for at in places]) for row in rows[:limit]]
    lowest = 0 if chart.kind == "stacked" else None
    return Bars(
        chart=chart,
        columns=columns,
        bars=tuple(
            Bar(
                label=_label(row, table.spec.columns, labels),
                values=tuple(value if lowest is None else max(value, lowest) for value in values),
            )
            for row, values in raw
        ),
        rows=len(table.rows),
        weighed=bool(table.spec.weight),
        negative=0 if lowest is None else sum(value < lowest for _, values in raw for value in values),
    )


def _label_places(table: Table, chart: Chart) -> list[int]:
    """Columns that label the bars, without those that say the same on every row."""
    places = [table.column_names.index(name) for name in chart.label]
    telling = [at for at in places if len({row[at] for row in table.rows}) > 1]
    return telling or places


def _label(row: Sequence[Cell], columns: Sequence[Column], places: Sequence[int]) -> str:
    return " · ".join(_named(row[at], columns[at]) for at in places)


def _named(value: Cell, column: Column) -> str:
    text = human(value, column)
    return f"{heading(column)} {text}" if column.unit == "id" else text
