"""Options of ``trainwright migrate``."""

from __future__ import annotations

import argparse
from pathlib import Path

#: Endings of ``--report`` and the renderer of each.
REPORTS = {
    ".html": "html", ".json": "json-data", ".sarif": "sarif", ".md": "markdown", ".csv": "findings-csv",
}  # fmt: skip
STYLES = ("npu", "agnostic", "shim")
SOCS = ("A2", "A3", "950DT")


def add_migrate_options(parser: argparse.ArgumentParser) -> None:
    """Every argument of the command."""
    parser.add_argument("target", metavar="PATH", help="folder of the project, or one file; or `explain`, or `api`")
    parser.add_argument("subject", metavar="CODE|NAME", nargs="?", help="what to explain or look up")
    _add_delivery(parser)
    _add_choice(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--report", type=Path, action="append", default=[], metavar="FILE",
        help=f"also write a report, by its ending {', '.join(REPORTS)} (repeatable)",
    )  # fmt: skip
    output.add_argument("--json", action="store_true", help="machine-readable answer on standard output")
    output.add_argument("--top", type=_natural, metavar="N", help="rows shown per table (default 10; 0: all)")
    output.add_argument("--jobs", type=_positive, metavar="N", help="most worker processes (default: the CPUs)")


def _add_delivery(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to do with the edits (default: only report)")
    one = group.add_mutually_exclusive_group()
    one.add_argument("--diff", action="store_true", help="print the edits as a unified diff")
    one.add_argument("--out", type=Path, metavar="DIR", help="write a migrated copy of the whole project")
    one.add_argument("--write", action="store_true", help="edit the project in place; it must be committed in git")
    group.add_argument("--unsafe", action="store_true", help="apply edits that may change what the program does, too")
    group.add_argument("--check", action="store_true", help="end with 1 when work remains")
    group.add_argument(
        "--force", action="store_true",
        help="edit without git, replace a copy written before, overwrite reports that exist",
    )  # fmt: skip


def _add_choice(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to look for, and for which target")
    group.add_argument(
        "--select", action="append", default=[], metavar="CODE", help="only these rules: TW101, TW1 or device-strings"
    )
    group.add_argument("--ignore", action="append", default=[], metavar="CODE", help="not these rules")
    group.add_argument(
        "--exclude", action="append", default=[], metavar="GLOB", help="not these files or folders, e.g. 'third_party'"
    )
    group.add_argument(
        "--style", choices=STYLES,
        help="npu: torch_npu names (default); agnostic: torch.accelerator, CUDA still works; shim: only import "
        "transfer_to_npu where the program starts",
    )  # fmt: skip
    group.add_argument("--torch", metavar="VERSION", help="version of PyTorch on the NPU (default 2.8)")
    group.add_argument("--soc", choices=SOCS, help="chip: Atlas A2 (default), Atlas A3 or Ascend 950DT")
    group.add_argument("--rules", type=Path, metavar="FILE", help="rules of your own, in YAML (see docs/migrate.md)")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)
