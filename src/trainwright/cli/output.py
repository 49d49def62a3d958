"""Show a result the way the user asked for: console or JSON, and files beside."""

from __future__ import annotations

import argparse
from dataclasses import replace

from trainwright.cli.streams import say, show
from trainwright.core.result import Result, Table
from trainwright.report.renderer import RENDERERS, Page

#: Rows of a table people are shown unless they ask for more.
DEFAULT_TOP = 10


def emit(page: Page, options: argparse.Namespace) -> None:
    """Write the files asked for, then the page on standard output.

    ``--where`` filters the tables, ``--top`` cuts them.

    Raises:
        InputError: ``--where`` fits no table.
        OutputError: a file exists and ``--force`` was not given, or cannot be written.
    """
    if options.where:
        from trainwright.analyze.query import filter_tables

        result = replace(page.result, tables=filter_tables(page.result.tables, options.where))
        page = replace(page, result=result)
    page = replace(page, top=None if options.top == 0 else options.top or DEFAULT_TOP)
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


def _cut(result: Result, top: int) -> Result:
    tables = tuple(Table(spec=table.spec, rows=table.rows[:top]) for table in result.tables)
    return replace(result, tables=tables)
