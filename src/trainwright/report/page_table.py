"""Tables, findings and summary of an HTML page.

A number carries its raw value in ``data-v`` where that differs from what is shown, so that sorting is exact; a text
has no ``data-v``. The script and the style sheet of the page rely on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from trainwright.core.result import Cell, Column, Finding, Result, Table
from trainwright.report.cells import is_number, plain
from trainwright.report.summary import Card
from trainwright.report.wording import heading, human, is_text, place, printable, saving

#: Most rows of a table on a page, and most characters of a cell: a page stays small enough to open.
MOST_ROWS = 2000
MOST_CHARS = 1000
MOST_EVIDENCE = 5
_BREAKS = "\n\t"


def anchor(table: Table) -> str:
    """The id of a table's section."""
    return "table-" + re.sub(r"[^\w-]", "-", table.name)


def safe_text(text: str) -> str:
    """Any text as HTML: bounded, nothing in it is mark-up, and no character changes how the rest is shown."""
    return escape(_bounded(printable(text, keep=_BREAKS)))


def table_view(table: Table, *, top: int | None) -> str:
    """A table with its filter; of more than `top` rows the rest is embedded and shown on demand."""
    kept = table.heaviest(MOST_ROWS)
    left_out = len(table.rows) - len(kept) + table.unread
    least = "at least " if table.unread_or_more else ""
    limit = len(kept) if top is None else min(top, len(kept))
    first = set(table.heaviest(limit))
    rows = [table.rows[at] for at in sorted(kept, key=lambda at: at not in first)]
    note = f"{least}{left_out:,} more rows are not on this page; --csv and --json give all" if left_out else ""
    more = f'<button type="button" class="more">show all {len(rows):,}</button>' if limit < len(rows) else ""
    return (
        f'<div class="table" data-top="{limit}"><div class="controls">'
        f'<input type="search" placeholder="filter rows" aria-label="filter rows of {safe_text(table.spec.title)}">'
        f"{more}<output>{limit:,} of {least}{len(table.rows) + table.unread:,} rows</output>"
        f'<span class="left-out">{note}</span></div>{_grid(table, rows, limit)}</div>\n'
    )


def finding_view(finding: Finding, result: Result) -> str:
    """A finding as a card, its evidence folded."""
    where = " · ".join(filter(None, (place(finding.where), saving(finding))))
    parts = [
        f'<article class="finding {finding.severity}"><h3><span class="severity">{finding.severity}</span>'
        f"{safe_text(finding.title)}<code>{safe_text(finding.code)}</code></h3>",
        f'<p class="where">{escape(where)}</p>' if where else "",
        f"<p>{safe_text(finding.detail)}</p>" if finding.detail else "",
        f'<p class="advice"><b>What to do</b> {safe_text(finding.advice)}</p>' if finding.advice else "",
        f'<p class="where">evidence: {safe_text(finding.source)}</p>' if finding.source else "",
        _change(finding),
        _evidence(finding, result),
    ]
    return "".join(parts) + "</article>\n"


def card_view(card: Card) -> str:
    """A card of the summary."""
    return (
        f'<div class="card"><span class="name">{escape(card.name)}</span>'
        f'<span class="figure">{escape(card.value)}</span><span class="note">{escape(card.note)}</span></div>'
    )


def _change(finding: Finding) -> str:
    """The lines in question, before and, where something can be written instead, after."""
    if finding.before is None:
        return ""
    note = {"unsafe": " (held back unless you ask for it)"}.get(finding.safety or "", "")
    before = f'<pre class="before" aria-label="before">{safe_text(finding.before)}</pre>'
    if finding.after is None:
        return before
    return f'{before}<pre class="after" aria-label="after{note}">{safe_text(finding.after)}</pre>'


def _evidence(finding: Finding, result: Result) -> str:
    evidence = finding.evidence
    if evidence is None or not evidence.rows:
        return ""
    rows = evidence.rows[:MOST_EVIDENCE]
    count = f"{len(rows)} of {len(evidence.rows):,}" if len(rows) < len(evidence.rows) else str(len(rows))
    known = next((table for table in result.tables if table.name == evidence.table), None)
    whole = known is not None and all(len(row) == len(known.spec.columns) for row in rows)
    if known is not None and whole:
        body = _grid(known, rows, len(rows))
    else:
        lines = "".join(f"<li>{safe_text(', '.join(str(plain(cell)) for cell in row))}</li>" for row in rows)
        body = f"<ul>{lines}</ul>"
    return f"<details><summary>evidence: {count} rows of {safe_text(evidence.table)}</summary>{body}</details>"


def _grid(table: Table, rows: Sequence[tuple[Cell, ...]], limit: int) -> str:
    """The ``table`` element; rows after the first `limit` are hidden. End tags that HTML does not need are left out."""
    spec = table.spec
    places = [at for at, column in enumerate(spec.columns) if not spec.shown or column.name in spec.shown]
    if spec.shown:
        places.sort(key=lambda at: spec.shown.index(spec.columns[at].name))
    head = "".join(_header(spec.columns[at]) for at in places)
    body = "\n".join(
        ("<tr>" if number < limit else "<tr hidden>") + "".join(_cell(row[at], spec.columns[at]) for at in places)
        for number, row in enumerate(rows)
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{safe_text(spec.title)}"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _header(column: Column) -> str:
    kind = "" if is_text(column) else ' class="n"'
    text = safe_text(f"{column.name}: {column.help}")
    return f'<th scope="col"{kind} title="{text}"><button type="button">{escape(heading(column))}</button></th>'


def _cell(cell: object, column: Column) -> str:
    value = plain(cell)
    text = escape(_bounded(human(value, column, keep=_BREAKS)))
    if is_text(column):
        return f"<td>{text}"
    raw = str(value)
    return f"<td data-v={raw}>{text}" if is_number(value) and raw != text else f"<td data-v>{text}"


def _bounded(text: str) -> str:
    left_out = len(text) - MOST_CHARS
    return f"{text[:MOST_CHARS]}… ({left_out:,} more characters)" if left_out > 0 else text
