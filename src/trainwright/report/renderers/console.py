"""Plain text for a terminal or a file: tables, stacked bars, findings, input quality, next commands.

Colours only in a terminal, and never alone: every segment of a bar has its own character. Nothing from a trace is
read as mark-up or reaches the terminal as a control sequence.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainwright.core.result import Finding, Quality, Table
from trainwright.report.atomic import write_file
from trainwright.report.renderer import Page
from trainwright.report.text_bars import bar_lines
from trainwright.report.text_table import fitted, lines_of
from trainwright.report.wording import heading, place, printable, saving, shortened, trouble

PLAIN_WIDTH = 120
LEAST_WIDTH = 20
_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
#: A line and its style.
Line = tuple[str, str]
#: For terminals that have no more than ASCII.
_ASCII = str.maketrans({"…": "~", "─": "-", "·": "|", "█": "#", "▓": "=", "░": ".", "▒": "+", "→": ">", "×": "x"})


@dataclass(frozen=True, kw_only=True)
class Console:
    """The renderer: ``page.top`` rows of each table, columns that people are shown, numbers in human units."""

    code: str = "console"
    summary: str = "Tables, bars and findings as text for a terminal."
    target: Literal["text", "file", "folder"] = "text"

    def render(self, page: Page) -> str:
        """The text for standard output: coloured when that is a terminal and ``NO_COLOR`` is not set."""
        terminal = sys.stdout.isatty()
        lines = list(_page(page, _width(terminal)))
        text = _coloured(lines) if terminal and not os.environ.get("NO_COLOR") else _plain(lines)
        return _encodable(text, getattr(sys.stdout, "encoding", None) or "utf-8")

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the text without colours to a file."""
        text = _plain(list(_page(page, PLAIN_WIDTH)))
        return [write_file(path, text, mark=text.partition("\n")[0], force=force)]


def _width(terminal: bool) -> int:
    """The width of the terminal; elsewhere that of the variable ``COLUMNS``, or 120."""
    if terminal:
        return max(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, LEAST_WIDTH)
    given = os.environ.get("COLUMNS", "")
    return max(int(given), LEAST_WIDTH) if given.isdecimal() else PLAIN_WIDTH


def _page(page: Page, width: int) -> Iterator[Line]:
    yield from _wrapped(page.title, width, style="bold")
    yield from _wrapped(page.subtitle, width, style="dim")
    if page.findings_first:
        yield from _findings(page.result.findings, page.top, width)
    for table in page.result.tables:
        if table.rows:
            yield "", ""
            yield from _table(table, page.top, width)
    empty = [table.name for table in page.result.tables if not table.rows]
    if empty:
        yield "", ""
        yield from _wrapped(f"no rows: {', '.join(empty)}", width, style="dim")
    if not page.findings_first:
        yield from _findings(page.result.findings, page.top, width)
    if page.result.quality:
        yield "", ""
        yield from _quality(page.result.quality, page.top, width)
    if page.next_steps:
        yield "", ""
        yield "Next", "bold"
        yield from ((f"  {printable(step)}", "") for step in page.next_steps)


def _table(table: Table, top: int | None, width: int) -> Iterator[Line]:
    yield from _wrapped(f"{table.spec.title} · {table.name}", width, style="bold")
    yield from _wrapped(table.spec.help, width, style="dim")
    bars = bar_lines(table, limit=top, width=width)
    yield from bars
    if bars:
        yield "", ""
    rows = [table.rows[at] for at in table.heaviest(top)]
    header, body = lines_of(table, rows, width)
    yield from ((line, "bold") for line in header)
    yield from ((line, "") for line in body)
    left_out = len(table.rows) - len(rows) + table.unread
    if left_out:
        least = "at least " if table.unread_or_more else ""
        less = _less(table) if len(rows) < len(table.rows) else ""
        yield from _wrapped(f"… {least}{left_out:,} more rows{less} (use --top 0 or --json)", width, style="dim")


def _less(table: Table) -> str:
    """What the rows left out have less of; empty where they are the last ones."""
    if not table.spec.weight:
        return ""
    column = table.spec.columns[table.column_names.index(table.spec.weight[0])]
    return f" with less {heading(column)}"


def _findings(findings: tuple[Finding, ...], top: int | None, width: int) -> Iterator[Line]:
    if not findings:
        return
    yield "", ""
    yield "Findings", "bold"
    for finding in findings[:top]:
        proof = f"evidence: table {finding.evidence.table}" if finding.evidence else ""
        yield from _wrapped(f"{finding.severity.upper()} {finding.title}", width, style=_STYLES[finding.severity])
        yield from _wrapped(
            " · ".join(filter(None, (place(finding.where), saving(finding), proof))), width, indent="  "
        )
        yield from _wrapped(finding.detail, width, indent="  ")
        yield from _wrapped(f"→ {finding.advice}" if finding.advice else "", width, indent="  ")
    if top is not None and len(findings) > top:
        yield from _wrapped(f"… {len(findings) - top:,} more findings (use --top 0 or --json)", width, style="dim")


def _quality(quality: tuple[Quality, ...], top: int | None, width: int) -> Iterator[Line]:
    """One line per kind of trouble: how often, in how many files, and the first case."""
    yield from _wrapped(f"input quality: {trouble(quality)}", width, style="bold")
    kinds: dict[str, list[Quality]] = {}
    for entry in quality:
        kinds.setdefault(entry.code, []).append(entry)
    for code, entries in list(kinds.items())[:top]:
        files = list(dict.fromkeys(entry.file for entry in entries if entry.file))
        where = f" in {files[0]}" if len(files) == 1 else f" in {len(files):,} files" if files else ""
        example = next((f": {entry.example}" for entry in entries if entry.example), "")
        line = f"  {code} × {sum(entry.count for entry in entries):,}{where}{example}"
        yield fitted(printable(shortened(line, 4 * width)), width, left=True).rstrip(), ""
    if top is not None and len(kinds) > top:
        yield from _wrapped(f"… {len(kinds) - top:,} more kinds (use --top 0 or --json)", width, style="dim")


def _wrapped(text: str, width: int, *, style: str = "", indent: str = "") -> Iterator[Line]:
    for line in text.splitlines():
        for part in textwrap.wrap(printable(line), width, initial_indent=indent, subsequent_indent=indent):
            yield part, style


def _plain(lines: list[Line]) -> str:
    return "".join(f"{line}\n" for line, _ in lines)


def _coloured(lines: list[Line]) -> str:
    from rich.console import Console as Terminal
    from rich.style import Style

    terminal = Terminal(file=io.StringIO(), force_terminal=True)
    system = terminal.color_system
    styles = {style: Style.parse(style) for _, style in lines}
    if system is None:
        return _plain(lines)
    return "".join(f"{styles[style].render(line) if style else line}\n" for line, style in lines)


def _encodable(text: str, encoding: str) -> str:
    """The text with what standard output cannot write replaced."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, errors="replace").decode(encoding)
    return text


RENDERER = Console()
