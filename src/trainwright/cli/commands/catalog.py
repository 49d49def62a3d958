"""List everything this installation can do: readers, analyses, renderers, commands, executors.

The list is made from the declarations of the parts themselves, and docs/catalog.md is made from this list.
"""

from __future__ import annotations

import argparse

from trainwright.cli.command import Command
from trainwright.cli.options import add_outputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--markdown", action="store_true", help="print as Markdown (docs/catalog.md)")
    add_outputs(parser, top=0)


def run(options: argparse.Namespace) -> int:
    """List."""
    from trainwright.cli.catalog import catalog_markdown, catalog_table
    from trainwright.cli.output import emit
    from trainwright.core.result import Result
    from trainwright.report.renderer import Page

    if options.markdown:
        print(catalog_markdown(), end="")
        return 0
    result = Result(tables=(catalog_table(),))
    emit(Page(command="catalog", title="Catalogue", subtitle="everything built in", result=result), options)
    return 0


COMMAND = Command(
    code="catalog",
    summary="list readers, analyses, renderers and commands",
    description=__doc__ or "",
    examples=("trainwright catalog", "trainwright catalog --json"),
    add_arguments=add_arguments,
    run=run,
    order=90,
)
