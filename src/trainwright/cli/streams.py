"""Standard output and error of a command, which may be full, closed or gone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from trainwright.core.errors import OutputError
from trainwright.report.wording import printable


def show(text: str) -> None:
    """Write a text to standard output, all of it.

    Raises:
        OutputError: it cannot be written.
        BrokenPipeError: the reader of our output went away, which is no error of ours.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise OutputError(
            f"cannot write to standard output: {error.strerror}", todo="free space, or send it elsewhere"
        ) from error


def say(text: str) -> None:
    """Write a line to standard error, safe to show; where that is closed or full, nobody can be told."""
    if sys.stderr is not None:  # print() would take standard output instead
        with suppress(OSError):
            print(printable(text, keep="\n"), file=sys.stderr, flush=True)


def drop_output() -> None:
    """Send what is still to come nowhere, so that the interpreter does not fail on it when it ends."""
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
