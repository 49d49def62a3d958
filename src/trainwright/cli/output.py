"""Show a result the way the user asked for: console or JSON, and files beside."""

from __future__ import annotations

import argparse
from dataclasses import replace

from trainwright.cli.streams import say, show
from trainwright.core.result import Result
from trainwright.report.page_table import MOST_ROWS
from trainwright.report.renderer import RENDERERS, Page


def emit(page: Page, options: argparse.Namespace) -> None:
    """Write the files asked for, then the page on standard output.

    ``--where`` filters the tables, ``--top`` cuts them.

    Raises:
        InputError: ``--where`` fits no table.
        OutputError: a file exists and ``--force`` was not given, or cannot be written.
    """
    if options.where:
        page = replace(page, result=_filtered(page.result, options.where))
    page = replace(page, top=shown_rows(options))
    # machines get only the rows asked for; people's views shorten by themselves and say how much is left
    data = replace(page, result=_cut(page.result, options.top)) if options.top else page
    written = []
    if options.csv is not None:
        written += RENDERERS["csv-data"].write(data, options.csv, force=options.force)
    if options.html is not None:
        written += RENDERERS["html"].write(page, options.html, force=options.force)
    show(RENDERERS["json-data"].render(data) if options.json else RENDERERS["console"].render(page))
    for path in written:
        say(f"wrote {path}")


def shown_rows(options: argparse.Namespace) -> int | None:
    """How many rows of a table people are shown; None for all."""
    return (options.default_top if options.top is None else options.top) or None


def rows_needed(options: argparse.Namespace) -> int | None:
    """How many rows of a table have to be there for the outputs asked for; None for all."""
    shown = shown_rows(options)
    machines = options.json or options.csv is not None
    if shown is None or options.where or (machines and not options.top):
        return None
    return shown if options.html is None else max(shown, MOST_ROWS)


def _filtered(result: Result, condition: str) -> Result:
    from trainwright.analyze.query import filter_tables

    kept, whole = filter_tables(result.tables, condition)
    if whole:
        say(f"--where {condition!r} does not fit {', '.join(whole)}: shown whole")
    return replace(result, tables=kept)


def _cut(result: Result, top: int) -> Result:
    tables = tuple(replace(table, rows=[table.rows[at] for at in table.heaviest(top)]) for table in result.tables)
    return replace(result, tables=tables)
