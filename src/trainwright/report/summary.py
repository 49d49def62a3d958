"""The few figures that head a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trainwright.core.result import Cell, Result, Table
from trainwright.core.units import format_ns, format_share
from trainwright.report.axis import Number
from trainwright.report.cells import number
from trainwright.report.wording import trouble

#: Parts of the step time worth a figure: column of the table `step_time`, and its name for people.
_PARTS = (
    ("computing_ns", "computing"),
    ("not_overlapped_ns", "comm. not overlapped"),
    ("free_ns", "free"),
    ("bubble_ns", "bubble"),
)


@dataclass(frozen=True, kw_only=True)
class Card:
    """One figure with its name and a note on it."""

    name: str
    value: str
    note: str = ""


def cards(result: Result) -> list[Card]:
    """The figures of a result: the step time and its parts where there are steps, then findings and input quality."""
    found = _migration(result.extra.get("summary"))
    for table in result.tables:
        if table.name == "step_time":
            found += _step_time(table)
    if result.findings:
        severe = sum(finding.severity != "info" for finding in result.findings)
        found.append(Card(name="findings", value=f"{len(result.findings):,}", note=f"{severe:,} to act on"))
    if result.quality:
        kinds, _, cases = trouble(result.quality).partition(", ")
        found.append(Card(name="input quality", value=kinds.split()[0], note=f"{kinds.partition(' ')[2]}, {cases}"))
    return found


def _migration(figures: object) -> list[Card]:
    """What a migration found, and the share of it that settles itself."""
    if not isinstance(figures, Mapping) or "auto_share" not in figures:
        return []
    share, files, lines, blocked, manual, minutes = (
        number(figures.get(name)) for name in ("auto_share", "files", "lines", "blocked", "manual", "minutes")
    )
    safe, unsafe = number(figures.get("edits_safe")), number(figures.get("edits_unsafe"))
    return [
        Card(name="migrated automatically", value=format_share(share), note=f"{safe:,} safe, {unsafe:,} unsafe edits"),
        Card(name="blocked", value=f"{blocked:,}", note="no counterpart on the NPU"),
        Card(name="to decide", value=f"{manual:,}", note=f"about {max(round(minutes / 60), 1):,} h of work in all")
        if minutes
        else Card(name="to decide", value=f"{manual:,}"),
        Card(name="read", value=f"{lines:,}", note=f"lines in {files:,} {_plural(int(files), 'file')}"),
    ]


def _step_time(table: Table) -> list[Card]:
    """Mean total of the rows that belong to a step, and the share of each part in their sum."""
    names = table.column_names
    if not {"rank", "step", "total_ns"} <= set(names):
        return []
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    rows = [row for row in rows if row["step"] is not None] or rows
    whole = _sum(row["total_ns"] for row in rows) if rows else 0
    if not whole:
        return []
    ranks, steps = (len({row[name] for row in rows}) for name in ("rank", "step"))
    over = f"mean of {ranks:,} {_plural(ranks, 'rank')}, {steps:,} {_plural(steps, 'step')}"
    found = [Card(name="step time", value=format_ns(round(whole / len(rows))), note=over)]
    for name, text in _PARTS:
        part = _sum(row[name] for row in rows) if name in names else 0
        if part:
            found.append(
                Card(name=text, value=format_share(part / whole), note=f"{format_ns(round(part / len(rows)))} a step")
            )
    return found


def _sum(cells: Iterable[Cell]) -> Number:
    return sum(number(cell) for cell in cells)


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
