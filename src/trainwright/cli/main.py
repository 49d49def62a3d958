"""Parse the command line, run the command, and turn errors into messages and exit codes.

Exit codes: 0 fine, 1 the thing asked about is not fine, 2 wrong input or use, 3 internal error, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from trainwright import __version__
from trainwright.cli.command import COMMANDS
from trainwright.core.errors import TrainwrightError

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
    try:
        return COMMANDS[chosen.command].run(chosen)
    except TrainwrightError as error:
        print(f"trainwright {chosen.command}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"\ntrainwright {chosen.command}: interrupted; nothing was left half-written", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away: not an error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if chosen.traceback:
            raise
        print(
            f"trainwright {chosen.command}: internal error: {type(error).__name__}: {error}\n"
            "This is a bug in trainwright, not in your data. What to do: run it again with --traceback and report it.",
            file=sys.stderr,
        )
        return INTERNAL


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
