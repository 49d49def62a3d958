"""Run a program with the emulated NPU: its own Python, its own arguments, a prepared environment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trainwright.core.errors import InputError
from trainwright.emulate.bootstrap import SOURCE_VARIABLE, VARIABLE, settings_text

SITE = Path(__file__).with_name("site")
SOURCE = Path(__file__).resolve().parents[2]


def environment(settings: dict[str, Any]) -> Mapping[str, str]:
    """The environment of the program: this one, with the site folder first and the settings."""
    paths = [str(SITE), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        VARIABLE: settings_text(settings),
        SOURCE_VARIABLE: str(SOURCE),
    }


def run(command: Sequence[str], settings: dict[str, Any], *, to_stderr: bool = False) -> int:
    """Run `command`; its exit code, or 128 and the number of the signal that ended it.

    Raises:
        InputError: there is no such program.
    """
    if shutil.which(command[0]) is None:
        raise InputError(
            f"there is no program {command[0]!r} to run",
            todo="write the command as in a shell, for example: trainwright emulate -- python train.py",
        )
    out = sys.stderr if to_stderr else None
    with _signals_to_the_program(), subprocess.Popen(list(command), env=environment(settings), stdout=out) as program:
        code = program.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _signals_to_the_program() -> Iterator[None]:
    """Ctrl-C goes to the whole terminal group: the program ends as it wants, and we wait for it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
