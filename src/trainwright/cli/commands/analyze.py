"""Show where the step time of a training run goes.

Reads Ascend, GPU and CPU profiles of one rank or many, and splits the time of every rank and step into computing,
communication, free time, bubble and preparing; the free time into its causes (host-bound launch, synchronisation,
data loading, garbage collection, allocator, compile); then by operator, kernel, shape, module and call stack;
communication with bandwidth; memory peaks with what was live; host APIs. Times are exact: parts add up.
Ends with 1 when a rank could not be read. Outputs are never written into RUN, nor over files of others.
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
    from trainwright.cli.inputs import every_rank_answered, open_inputs, page_outside, shell_words
    from trainwright.cli.output import emit
    from trainwright.report.renderer import Page

    opened = open_inputs(options)
    result = analyze_run(opened, options.only, jobs=options.jobs)
    paths = shell_words(options.run)
    steps = [f"trainwright analyze {paths} --html {page_outside(options.run)}"]
    if len(options.run) == 1:  # SQL takes one run
        query = "SELECT name, sum(dur_ns) AS total_ns FROM slices GROUP BY name ORDER BY 2 DESC LIMIT 10"
        steps.append(f'trainwright sql {paths} "{query}"')
    page = Page(
        command="analyze",
        title="Where the time goes",
        subtitle=f"{' '.join(map(str, options.run))}: {len(opened.ranks)} rank(s)",
        result=result,
        next_steps=tuple(steps),
    )
    emit(page, options)
    return int(not every_rank_answered(result))


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
