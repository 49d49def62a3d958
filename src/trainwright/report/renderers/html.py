"""One page for a browser, offline: charts, sortable tables, findings; nothing is loaded from anywhere.

The policy in the page's head lets the browser run the one script it holds, by its hash, and reach nothing else, so that
a name in a trace stays text whatever it looks like.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from trainwright import __version__
from trainwright.core.result import Column, Quality, Table, TableSpec
from trainwright.report.atomic import write_file
from trainwright.report.charts import figure, patterns
from trainwright.report.page_table import anchor, card_view, finding_view, safe_text, table_view
from trainwright.report.renderer import Page
from trainwright.report.summary import cards

#: Most findings on a page.
MOST_FINDINGS = 500
#: How every page begins: by this we know one of ours.
_MARK = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="trainwright'

_QUALITY = TableSpec(
    name="input_quality",
    title="Input quality",
    help="What was missing, damaged, repaired or lost in the input.",
    columns=(
        Column(name="code", unit="text", help="kind of trouble"),
        Column(name="count", unit="count", help="how often"),
        Column(name="example", unit="text", help="the first case"),
        Column(name="file", unit="text", help="where"),
        Column(name="offset", unit="count", help="byte offset of the first case in the file"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Html:
    """The renderer: ``page.top`` rows of a table at first sight, up to `page_table.MOST_ROWS` on demand."""

    code: str = "html"
    summary: str = "One offline page with charts, sortable tables and findings."
    target: Literal["text", "file", "folder"] = "file"

    def render(self, page: Page) -> str:
        """The page; equal results give equal text."""
        style, script = _asset("page.css"), _asset("page.js")
        title = safe_text(page.title)
        return (
            f'{_MARK} {__version__}">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
            f"{patterns()}{''.join(_body(page, title))}<script>{script}</script>\n</body>\n</html>\n"
        )

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the page to a file."""
        return [write_file(path, self.render(page), mark=_MARK, force=force)]


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return files("trainwright.report").joinpath(name).read_text(encoding="utf-8")


def _body(page: Page, title: str) -> Iterator[str]:
    result = page.result
    tables = [table for table in result.tables if table.rows]
    empty = [table for table in result.tables if not table.rows]
    yield f'<header><h1>{title}</h1><p class="lines">{safe_text(page.subtitle)}</p>'
    strip = "".join(map(card_view, cards(result)))
    yield f'<div class="cards" aria-label="summary">{strip}</div></header>\n' if strip else "</header>\n"
    yield _contents(page, tables)
    yield "<main>\n"
    yield _findings(page)
    for table in tables:
        yield _section(table, page.top)
    if empty:
        names = ", ".join(f"{safe_text(table.spec.title)} ({safe_text(table.name)})" for table in empty)
        yield f'<section><h2>Nothing to show</h2><p class="help">Tables without rows: {names}.</p></section>\n'
    if result.quality:
        yield _section(_QUALITY.table(map(_quality_row, result.quality)), page.top)
    yield _next(page)
    yield f"</main>\n<footer>trainwright {__version__} · {safe_text(page.command)}</footer>\n"


def _contents(page: Page, tables: list[Table]) -> str:
    links = [("findings", "Findings", len(page.result.findings))]
    links += [(anchor(table), table.spec.title, len(table.rows)) for table in tables]
    links.append((anchor(_QUALITY.table([])), _QUALITY.title, len(page.result.quality)))
    items = "".join(
        f'<li><a href="#{target}">{safe_text(text)}</a><span>{count:,}</span></li>'
        for target, text, count in links
        if count
    )
    return f'<nav aria-label="contents"><ul>{items}</ul></nav>\n' if items else ""


def _section(table: Table, top: int | None) -> str:
    spec = table.spec
    return (
        f'<section id="{anchor(table)}"><h2>{safe_text(spec.title)}'
        f"<code>{safe_text(spec.name)}</code></h2>"
        f'<p class="help">{safe_text(spec.help)}</p>\n{figure(table)}{table_view(table, top=top)}</section>\n'
    )


def _findings(page: Page) -> str:
    findings = page.result.findings
    if not findings:
        return ""
    shown = "".join(finding_view(finding, page.result) for finding in findings[:MOST_FINDINGS])
    left_out = len(findings) - MOST_FINDINGS
    note = f'<p class="help">{left_out:,} more findings are not on this page; --csv and --json give all.</p>'
    return f'<section id="findings"><h2>Findings</h2>\n{shown}{note if left_out > 0 else ""}</section>\n'


def _quality_row(entry: Quality) -> tuple[str | int | None, ...]:
    return (entry.code, entry.count, entry.example, entry.file, entry.offset)


def _next(page: Page) -> str:
    if not page.next_steps:
        return ""
    steps = "".join(f'<p class="next"><code>{safe_text(step)}</code></p>' for step in page.next_steps)
    return f"<section><h2>Next</h2>{steps}</section>\n"


RENDERER = Html()
