"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

#: Rows of a table people are shown unless they ask for more.
DEFAULT_TOP = 10


def add_run(parser: argparse.ArgumentParser, *, many: bool = True) -> None:
    """The profile(s) to read, and how."""
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="+" if many else 1,
        type=some_path,
        help="folder of a run (all ranks below it are found) or a single profile file",
    )
    parser.add_argument("--jobs", type=_positive, metavar="N", help="most worker processes (default: the CPUs)")


def add_outputs(parser: argparse.ArgumentParser, *, top: int = DEFAULT_TOP) -> None:
    """Where and how results are shown; of each table people are shown `top` rows unless they ask for more."""
    parser.set_defaults(default_top=top)
    parser.add_argument("--json", action="store_true", help="machine-readable answer on standard output")
    parser.add_argument("--csv", type=some_path, metavar="DIR", help="also write every table as a CSV file into DIR")
    parser.add_argument("--html", type=some_path, metavar="FILE", help="also write one offline page with plots")
    parser.add_argument("--force", action="store_true", help="overwrite outputs written before")
    parser.add_argument(
        "--top",
        type=_natural,
        metavar="N",
        help=f"rows shown per table (default {top or 'all'}; 0: all); also cuts --json and --csv",
    )
    parser.add_argument(
        "--where", metavar="SQL", help="keep only rows for which this holds, e.g. \"rank = 0 AND name LIKE '%%mm%%'\""
    )


def some_path(text: str) -> Path:
    """A path out of an argument; an empty one, left by a variable without a value, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty (for the current folder, write .)")
    return Path(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)
