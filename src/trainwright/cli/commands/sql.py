"""Ask the store of a run in SQL (DuckDB, read-only).

Every table of the store is there with a rank column (slices, kernels, ops, collectives, memory_events, ...), every
table of the source as reported_<file>, every table of an analysis (step_time, operators, ..., and analysis.kernels
where the store has a table of that name), and `timeline`: the slices joined with their process, thread and stream.
`--tables` lists them with their columns.
"""

from __future__ import annotations

import argparse

from trainwright.cli.command import Command
from trainwright.cli.options import add_outputs, add_run

#: A query says itself how many rows it wants; this many are shown where it wants very many.
MOST_SHOWN = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_run(parser, many=False)
    parser.add_argument("query", metavar="QUERY", nargs="?", help="one SELECT statement")
    parser.add_argument("--tables", action="store_true", help="list tables and columns instead")
    add_outputs(parser, top=MOST_SHOWN)


def run(options: argparse.Namespace) -> int:
    """Query and show."""
    from trainwright.analyze.query import describe_tables, run_query
    from trainwright.cli.inputs import open_inputs
    from trainwright.cli.output import emit, rows_needed
    from trainwright.core.errors import InputError
    from trainwright.report.renderer import Page

    if not options.query and not options.tables:
        raise InputError("no query given", allowed="one SELECT statement in quotes, or --tables", todo="add one")
    opened = open_inputs(options)
    result = describe_tables(opened) if options.tables else run_query(opened, options.query, most=rows_needed(options))
    emit(Page(command="sql", title="Result", subtitle=options.query or "tables", result=result), options)
    return 0


COMMAND = Command(
    code="sql",
    summary="query all tables of a run with SQL",
    description=__doc__ or "",
    examples=(
        "trainwright sql ./profile --tables --top 0",
        'trainwright sql ./profile "SELECT rank, name, sum(dur_ns) AS total_ns FROM timeline '
        "WHERE kind = 'kernel' GROUP BY ALL ORDER BY total_ns DESC LIMIT 10\"",
    ),
    add_arguments=add_arguments,
    run=run,
    order=30,
)
