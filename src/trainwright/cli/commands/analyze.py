"""Show where the step time of a training run goes.

Reads Ascend, GPU and CPU profiles of one rank or many, and splits the time of every rank and step into computing,
communication, free time, bubble and preparing; the free time into its causes (host-bound launch, synchronisation,
data loading, garbage collection, allocator, compile); then by operator, kernel, shape, module and call stack;
communication with bandwidth; memory peaks with what was live; host APIs. Times are exact: parts add up.
"""

from __future__ import annotations

import argparse

from trainwright.cli.command import Command
from trainwright.cli.options import add_outputs, add_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_run(parser)
    parser.add_argument(
        "--only", action="append", default=[], metavar="ANALYSIS",
        help="run only this analysis, e.g. step-time (repeatable; `trainwright catalog` lists them)",
    )  # fmt: skip
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Analyse and show."""
    from trainwright.analyze.engine import analyze_run
    from trainwright.cli.output import emit
    from trainwright.cli.progress import progress
    from trainwright.report.renderer import Page
    from trainwright.trace.ingest import open_run

    with progress("rank") as on_progress:
        opened = open_run(options.run, jobs=options.jobs, on_progress=on_progress)
    result = analyze_run(opened, options.only, jobs=options.jobs)
    paths = " ".join(str(path) for path in options.run)
    page = Page(
        command="analyze",
        title="Where the time goes",
        subtitle=f"{paths}: {len(opened.ranks)} rank(s)",
        result=result,
        next_steps=(
            f"trainwright analyze {paths} --html report.html",
            f'trainwright sql {paths} "SELECT name, sum(dur_ns) AS total_ns FROM slices GROUP BY name ORDER BY 2 DESC"',
        ),
    )
    emit(page, options)
    return 0


COMMAND = Command(
    code="analyze",
    summary="split the step time of a run into communication, operators, scheduling and memory",
    description=__doc__ or "",
    examples=(
        "trainwright analyze ./profile",
        "trainwright analyze ./profile --html report.html --csv tables/",
        "trainwright analyze ./profile --only step-time --where 'rank = 0' --json",
    ),
    add_arguments=add_arguments,
    run=run,
    order=20,
)
