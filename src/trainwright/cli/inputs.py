"""Open the run a command was given, having made sure that no output falls on it."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainwright.cli.progress import progress
from trainwright.core.errors import OutputError
from trainwright.core.result import Result
from trainwright.trace.ingest import open_run
from trainwright.trace.store import Run


def open_inputs(options: argparse.Namespace) -> Run:
    """The run at ``options.run``, see `trainwright.trace.ingest.open_run`.

    Raises:
        OutputError: an output would be written over what is read, or into it; ``--force`` does not change that.
    """
    _check_outputs(options, options.run)  # before the work, not after it
    with progress("rank") as on_progress:
        run = open_run(options.run, jobs=options.jobs, on_progress=on_progress)
    _check_outputs(options, _files_of(run))  # links lead out of the folders that were given
    return run


def every_rank_answered(result: Result) -> bool:
    """Whether no rank of the run had to be left out."""
    return not any(entry.code in ("rank-not-read", "rank-not-analysed") for entry in result.quality)


def shell_words(paths: Iterable[Path]) -> str:
    """Paths as words for a shell, to be typed or pasted."""
    return " ".join(shlex.quote(str(path)) for path in paths)


def page_outside(runs: Iterable[Path]) -> str:
    """Where to write a page: here, or, where here is part of a run, beside that run; as a word for a shell."""
    place = Path.cwd()
    for run in sorted(map(_place, runs), key=lambda path: len(path.parts), reverse=True):
        if run == place or run in place.parents:
            place = run.parent
    return shell_words([Path(os.path.relpath(place / "report.html"))])


def _files_of(run: Run) -> Iterator[Path]:
    for rank in run.ranks:
        for part in rank.unit.parts:
            yield from part.files


def _check_outputs(options: argparse.Namespace, inputs: Iterable[Path]) -> None:
    outputs = [("--csv", options.csv), ("--html", options.html)]
    places = [(option, path, _place(path)) for option, path in outputs if path is not None]
    if not places:
        return
    for given in inputs:
        source = _place(given)
        for option, path, place in places:
            if place == source or source in place.parents:
                raise OutputError(
                    f"{option} {path} would write into {given}, which is read: your data is never written to",
                    todo="choose a place outside of it",
                )
            if place in source.parents:
                raise OutputError(
                    f"{option} {path} would take the place of a folder that holds {given}, which is read",
                    todo="choose a new folder",
                )


def _place(path: Path) -> Path:
    """Where a path leads; unlike `Path.resolve`, a link that leads to itself is no error here."""
    return Path(os.path.realpath(path))
