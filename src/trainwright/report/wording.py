"""Values in words for people: numbers in their units, and names from traces made harmless.

A name in a trace is hostile input. A terminal obeys escape sequences in it, and a character that changes the direction
of writing makes text look like something else, so whatever is not printable is shown as its code.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainwright.core.result import Column, Finding, Quality, Where
from trainwright.core.units import format_ns, format_value
from trainwright.report.cells import plain

#: Suffixes of column names that say the unit, which people see beside each value instead.
_SUFFIXES = {"ns": "_ns", "bytes": "_bytes"}


def printable(text: str, *, keep: str = "") -> str:
    """The text with every character that is not printable (nor in `keep`) as its code, such as ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(
        char if char in keep or char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def human(value: object, column: Column, *, keep: str = "") -> str:
    """One cell for people; line breaks and tabs survive only where `keep` says so."""
    return printable(format_value(plain(value), column.unit), keep=keep)


def heading(column: Column) -> str:
    """The name of a column without the unit: ``free_ns`` is ``free`` where its values show their unit."""
    return printable(column.name.removesuffix(_SUFFIXES.get(column.unit, "")))


def is_text(column: Column) -> bool:
    """Whether the column is set like text (left) and not like a number (right)."""
    return column.unit == "text"


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, the middle left out: both ends of kernel names and paths tell them apart."""
    if len(text) <= limit:
        return text
    if limit <= 1:
        return "…"[:limit]
    head = limit // 2
    tail = limit - 1 - head
    return f"{text[:head]}…{text[len(text) - tail :]}"


def place(where: Where) -> str:
    """Where a finding is: ``rank 3, step 2, operator aten::mm, train.py:12:4``; empty when it is nowhere special."""
    parts = [
        f"{word} {printable(str(value))}"
        for word, value in (
            ("rank", where.rank), ("step", where.step), ("operator", where.op), ("module", where.module),
        )
        if value is not None
    ]  # fmt: skip
    if where.file is not None:
        parts.append(":".join(printable(str(part)) for part in _position(where)))
    return ", ".join(parts)


def saving(finding: Finding) -> str:
    """What acting on a finding saves: ``saves 1.200 ms``; empty when that is not known."""
    return "" if finding.saving_ns is None else f"saves {format_ns(finding.saving_ns)}"


def _position(where: Where) -> list[object]:
    parts: list[object] = [where.file]
    if where.line is not None:
        parts.append(where.line)
        if where.column is not None:
            parts.append(where.column)
    return parts


def trouble(quality: Sequence[Quality]) -> str:
    """The input quality in one line: ``3 kinds of trouble, 1,234 cases``."""
    kinds, cases = len({entry.code for entry in quality}), sum(entry.count for entry in quality)
    if not kinds:
        return "no trouble"
    return f"{kinds:,} {'kind' if kinds == 1 else 'kinds'} of trouble, {cases:,} {'case' if cases == 1 else 'cases'}"
