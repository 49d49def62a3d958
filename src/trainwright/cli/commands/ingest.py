"""Read profiles into the store, so that every later command opens them at once.

All ranks below the given folders are found and read in parallel; what is damaged, missing or refused is counted and
named. The store is a cache folder of our own: your data is never written to. Reading again is free while the files do
not change. Ends with 1 when a rank could not be read. Outputs are never written into RUN.
"""

from __future__ import annotations

import argparse

from trainwright.cli.command import Command
from trainwright.cli.options import add_outputs, add_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_run(parser)
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Read and report."""
    from dataclasses import replace

    from trainwright.analyze.engine import analyze_run
    from trainwright.cli.inputs import every_rank_answered, open_inputs, shell_words
    from trainwright.cli.output import emit
    from trainwright.report.renderer import Page
    from trainwright.trace.ingest import store_dir

    opened = open_inputs(options)
    result = replace(analyze_run(opened, ["ranks"], jobs=options.jobs), extra={"store": str(store_dir())})
    page = Page(
        command="ingest",
        title="What was read",
        subtitle=f"{len(opened.ranks)} rank(s), store {store_dir()}",
        result=result,
        next_steps=(f"trainwright analyze {shell_words(options.run)}",),
    )
    emit(page, options)
    return int(not every_rank_answered(result))


COMMAND = Command(
    code="ingest",
    summary="read profiles into the store and report what was read, lost and repaired",
    description=__doc__ or "",
    examples=("trainwright ingest ./profile", "trainwright ingest ./run_a ./run_b --json"),
    add_arguments=add_arguments,
    run=run,
    order=10,
)
