"""Parse the command line, run the command, and turn errors into messages and exit codes.

Exit codes: 0 fine, 1 the thing asked about is not fine, 2 wrong input or use, 3 internal error, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from trainwright import __version__
from trainwright.cli.command import COMMANDS
from trainwright.cli.interrupts import noted_interrupts
from trainwright.cli.streams import drop_output, say, show
from trainwright.core.errors import OutputError, TrainwrightError

_DESCRIPTION = """\
Take a large-model training job to an Ascend NPU cluster, correct and fast.

Point it at the profile of a training run (Ascend or GPU, one rank or many) and see where the step time goes."""

INTERRUPTED = 130
INTERNAL = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    parser = build_parser()
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return 2
    with noted_interrupts() as interrupts:
        try:
            return _run(chosen)
        except Exception as error:
            if interrupts.seen:  # native code made another error of it
                return _interrupted(chosen)
            return _failed(error, chosen)
        except KeyboardInterrupt:
            return _interrupted(chosen)


def _run(chosen: argparse.Namespace) -> int:
    """Run the command and see its answer out."""
    if sys.stdout is None:
        raise OutputError("standard output is closed, so nothing can be shown", todo="send it to a file or a terminal")
    code = COMMANDS[chosen.command].run(chosen)
    show("")
    return code


def _failed(error: Exception, chosen: argparse.Namespace) -> int:
    """Say what went wrong; the exit code."""
    if isinstance(error, TrainwrightError):
        say(f"trainwright {chosen.command}: {error}")
        return error.exit_code
    if isinstance(error, BrokenPipeError):  # the reader of our output went away: not an error of ours
        drop_output()
        return 0
    if chosen.traceback:
        raise error
    say(
        f"trainwright {chosen.command}: internal error: {type(error).__name__}: {error}\n"
        "This is a bug in trainwright, not in your data. What to do: run it again with --traceback and report it."
    )
    return INTERNAL


def _interrupted(chosen: argparse.Namespace) -> int:
    say(f"\ntrainwright {chosen.command}: interrupted; nothing was left half-written")
    return INTERRUPTED


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="trainwright", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"trainwright {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in sorted(COMMANDS, key=lambda leaf: (leaf.order, leaf.code)):
        examples = "\n".join(f"  {example}" for example in command.examples)
        sub = commands.add_parser(
            command.code,
            help=command.summary,
            description=command.description,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(sub)
        sub.add_argument("--traceback", action="store_true", help="show the full traceback of an internal error")
    return parser
