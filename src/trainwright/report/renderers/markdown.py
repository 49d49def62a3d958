"""A Markdown page for a pull request or a wiki: figures, findings with before and after, tables.

Text from files and traces is escaped or stands in code, so that none of it is read as mark-up.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainwright.core.result import Cell, Column, Finding, Quality, Table
from trainwright.report.atomic import write_file
from trainwright.report.renderer import Page
from trainwright.report.summary import cards
from trainwright.report.wording import heading, human, is_text, place, printable, saving, trouble

MOST_FINDINGS = 200
MOST_ROWS = 200
#: How every file begins, which no viewer shows: by this we know one of ours.
_MARK = "<!-- trainwright report -->\n"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$-])")


@dataclass(frozen=True, kw_only=True)
class Markdown:
    """The renderer: up to `MOST_FINDINGS` findings and `MOST_ROWS` rows of each table."""

    code: str = "markdown"
    summary: str = "One Markdown page with findings and tables."
    target: Literal["text", "file", "folder"] = "file"

    def render(self, page: Page) -> str:
        """The page; equal results give equal text."""
        return "\n".join(_page(page)) + "\n"

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the page to a file."""
        return [write_file(path, _MARK + self.render(page), mark=_MARK, force=force)]


def _page(page: Page) -> Iterator[str]:
    yield f"# {_text(page.title)}"
    yield ""
    for line in page.subtitle.splitlines():
        yield f"{_text(line)}  "
    yield ""
    for card in cards(page.result):
        yield f"- {_text(card.name)}: **{_text(card.value)}**" + (f" ({_text(card.note)})" if card.note else "")
    yield ""
    yield from _findings(page.result.findings)
    for table in page.result.tables:
        if table.rows:
            yield from _table(table)
    if page.result.quality:
        yield from _quality(page.result.quality)
    if page.next_steps:
        yield from ("## Next", "", *(f"    {printable(step)}" for step in page.next_steps))


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    yield from ("## Findings", "")
    for finding in findings[:MOST_FINDINGS]:
        yield f"### {finding.severity.upper()} {_text(finding.code)} {_text(finding.title)}"
        yield ""
        where = " · ".join(filter(None, (place(finding.where), saving(finding))))
        for text in (where, finding.detail, finding.advice and f"What to do: {finding.advice}"):
            if text:
                yield from (_text(text), "")
        if finding.source:
            yield from (f"Evidence: {_text(finding.source)}", "")
        yield from _change(finding)
    if len(findings) > MOST_FINDINGS:
        yield from (f"{len(findings) - MOST_FINDINGS:,} more findings are not on this page; JSON gives all.", "")


def _change(finding: Finding) -> Iterator[str]:
    """The lines before, as a diff where there is an after."""
    if finding.before is None:
        return
    before = printable(finding.before, keep="\n").splitlines()
    if finding.after is None:
        yield from _fenced(before, "")
        return
    after = printable(finding.after, keep="\n").splitlines()
    lines = [line for line in difflib.ndiff(before, after) if not line.startswith("?")]
    yield from _fenced(lines, "diff")


def _fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{language}", *lines, fence, "")


def _table(table: Table) -> Iterator[str]:
    spec = table.spec
    names = spec.shown or tuple(table.column_names)
    places = [table.column_names.index(name) for name in names]
    columns = [spec.columns[at] for at in places]
    yield from (f"## {_text(spec.title)}", "", _text(spec.help), "")
    yield _row([heading(column) for column in columns])
    yield "|" + "|".join("---" if is_text(column) else "---:" for column in columns) + "|"
    for row in table.rows[:MOST_ROWS]:
        yield _row([_cell(row[at], column) for at, column in zip(places, columns, strict=True)])
    yield ""
    if len(table.rows) > MOST_ROWS:
        yield from (f"{len(table.rows) - MOST_ROWS:,} more rows are not on this page; JSON gives all.", "")


def _quality(quality: Sequence[Quality]) -> Iterator[str]:
    yield from (
        "## Input quality",
        "",
        trouble(quality),
        "",
        _row(["code", "count", "file", "example"]),
        "|---|---:|---|---|",
    )
    for entry in quality[:MOST_ROWS]:
        yield _row([entry.code, f"{entry.count:,}", entry.file, entry.example])
    yield ""


def _cell(value: Cell, column: Column) -> str:
    return human(value, column)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_text, cells)) + " |"


def _text(text: str) -> str:
    """Any text as Markdown that shows it: one line, nothing in it is mark-up."""
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


RENDERER = Markdown()
