"""What every command answers with: tables, findings and quality notes.

Everything a person sees is made of these values, so a new analysis shows up in the console, in HTML, in JSON and
in the browser with no more code. Declare a table once as a `TableSpec` (name, columns with units and help); help
texts, the catalogue and the renderers read that declaration.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Cell = str | int | float | bool | None
Unit = Literal["text", "id", "count", "ns", "bytes", "share", "GB/s", "ratio", "number"]
Severity = Literal["error", "warning", "info"]
Safety = Literal["safe", "unsafe", "display"]
#: Values of the keys of a command: cells, and lists and mappings of them.
Extra = Cell | Sequence["Extra"] | Mapping[str, "Extra"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: `unit` decides how people see it; machine formats always carry the raw value."""

    name: str
    unit: Unit
    help: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """How a table is best looked at.

    `kind` ``stacked``: one horizontal bar per row, labelled by the columns in `label`, one segment per column of
    `values`. ``bars``: one bar per row for the single column in `values`, longest first.
    """

    kind: Literal["stacked", "bars"]
    label: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """The declaration of a table: what it is called, what it says, and what its columns mean."""

    name: str
    title: str
    help: str
    columns: tuple[Column, ...]
    chart: Chart | None = None
    #: Columns that people are shown; empty means all. Machine formats always carry all.
    shown: tuple[str, ...] = ()
    #: Columns of numbers that say what a row weighs: where a table is cut, its heaviest rows are kept.
    weight: tuple[str, ...] = ()

    def table(self, rows: Iterable[Sequence[Cell]]) -> Table:
        """A table of this kind; each row gives every column in the declared order."""
        return Table(spec=self, rows=[tuple(row) for row in rows])


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under a declaration. Times are integer ns, sizes integer bytes.

    `unread` counts rows there are beyond `rows`, where not all were fetched; `unread_or_more` says that counting was
    given up there.
    """

    spec: TableSpec
    rows: list[tuple[Cell, ...]]
    unread: int = 0
    unread_or_more: bool = False

    @property
    def name(self) -> str:
        """The declared name."""
        return self.spec.name

    @property
    def column_names(self) -> list[str]:
        """The declared column names, in order."""
        return [column.name for column in self.spec.columns]

    def column(self, name: str) -> list[Cell]:
        """All values of one column, in row order."""
        at = self.column_names.index(name)
        return [row[at] for row in self.rows]

    def heaviest(self, most: int | None) -> list[int]:
        """Numbers of the rows to show where no more than `most` can be, in order: the heaviest, else the first."""
        count = len(self.rows)
        if most is None or count <= most:
            return list(range(count))
        places = [self.column_names.index(name) for name in self.spec.weight]
        if not places:
            return list(range(most))
        # of equal rows the first; a missing value weighs nothing
        return sorted(heapq.nlargest(most, range(count), key=lambda at: (*_weights(self.rows[at], places), -at)))

    def records(self) -> list[dict[str, Cell]]:
        """The rows as dictionaries."""
        names = self.column_names
        return [dict(zip(names, row, strict=True)) for row in self.rows]


def _weights(row: tuple[Cell, ...], places: list[int]) -> Iterator[float]:
    for place in places:
        value = row[place]
        yield abs(value) if isinstance(value, int | float) else -1


@dataclass(frozen=True, kw_only=True)
class Where:
    """The place a finding speaks of; what does not apply stays None and is left out of machine output."""

    rank: int | None = None
    step: int | None = None
    op: str | None = None
    module: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Rows of a named table that prove a finding."""

    table: str
    rows: tuple[tuple[Cell, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Text to put in place of a part of a file: lines and columns from 1, the end is the first character kept."""

    line: int
    column: int
    end_line: int
    end_column: int
    new: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing the user should know: the cause, named, with evidence and a way out.

    A finding about source text also has `safety` (``safe``, ``unsafe``, ``display``), the text `before`, the text
    `after` where something can be written instead, the `end` (line, column) of the place in ``where``, the
    `replacements` that lead from one to the other, and the `source` of the knowledge behind it.
    """

    code: str
    severity: Severity
    title: str
    detail: str = ""
    advice: str = ""
    saving_ns: int | None = None
    where: Where = field(default_factory=Where)
    evidence: Evidence | None = None
    safety: Safety | None = None
    before: str | None = None
    after: str | None = None
    end: tuple[int, int] | None = None
    replacements: tuple[Replacement, ...] = ()
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Something in the input that was missing, damaged, repaired or lost: `count` times, first seen at `offset`."""

    code: str
    count: int
    example: str = ""
    file: str = ""
    offset: int | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """The whole answer of a command or an analysis."""

    tables: tuple[Table, ...] = ()
    findings: tuple[Finding, ...] = ()
    quality: tuple[Quality, ...] = ()
    #: Command specific keys of the machine-readable answer, for example ``{"store": "/path"}``.
    extra: Mapping[str, Extra] = field(default_factory=dict)

    def table(self, name: str) -> Table:
        """The table called `name`; a `KeyError` when the result has none."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)


def merge(results: Iterable[Result]) -> Result:
    """One result out of many: rows of tables with the same name are concatenated in order, the rest is appended."""
    tables: dict[str, Table] = {}
    findings: list[Finding] = []
    quality: list[Quality] = []
    extra: dict[str, Extra] = {}
    for result in results:
        for table in result.tables:
            known = tables.get(table.name)
            rows = table.rows if known is None else known.rows + table.rows
            tables[table.name] = Table(spec=table.spec, rows=rows)
        findings.extend(result.findings)
        quality.extend(result.quality)
        extra.update(result.extra)
    return Result(tables=tuple(tables.values()), findings=tuple(findings), quality=tuple(quality), extra=extra)
