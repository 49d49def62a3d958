"""List or clear the store, the cache folder that holds every profile read so far.

The folder is $TRAINWRIGHT_CACHE, else $XDG_CACHE_HOME/trainwright, else ~/.cache/trainwright. Clearing it costs
nothing but reading the profiles again.
"""

from __future__ import annotations

import argparse

from trainwright.cli.command import Command
from trainwright.cli.options import add_outputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("action", choices=("list", "clear"), help="what to do")
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """List or clear."""
    from trainwright.cli.output import emit
    from trainwright.core.result import Result
    from trainwright.report.renderer import Page
    from trainwright.trace.cache import cache_table, clear_cache
    from trainwright.trace.ingest import store_dir

    table = cache_table()
    held = clear_cache() if options.action == "clear" else 0
    result = Result(tables=(table,), extra={"store": str(store_dir())})
    done = "removed" if options.action == "clear" else "in the store"
    stays = f"; {held} being read now stay" if held else ""
    page = Page(
        command="cache",
        title="Store",
        subtitle=f"{store_dir()}: {len(table.rows)} rank(s) {done}{stays}",
        result=result,
    )
    emit(page, options)
    return 0


COMMAND = Command(
    code="cache",
    summary="list or clear the store of profiles read so far",
    description=__doc__ or "",
    examples=("trainwright cache list", "trainwright cache clear"),
    add_arguments=add_arguments,
    run=run,
    order=80,
)
