"""Where Trainwright keeps its own files, and how much of the machine it may use.

==========================  ===========================================================================
``TRAINWRIGHT_CACHE``       folder of the trace store (default: ``$XDG_CACHE_HOME/trainwright`` or
                            ``~/.cache/trainwright``)
``TRAINWRIGHT_JOBS``        most worker processes (default: the CPUs this process may use)
``TRAINWRIGHT_MAX_BYTES``   most bytes one input may unpack to (default: 64 GiB)
==========================  ===========================================================================
"""

from __future__ import annotations

import os
from pathlib import Path

from trainwright.core.errors import InputError

DEFAULT_MAX_BYTES = 64 * 2**30


def cache_dir() -> Path:
    """The folder of the trace store; it may not exist yet."""
    if given := os.environ.get("TRAINWRIGHT_CACHE"):
        return Path(given).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "trainwright"


def max_jobs() -> int:
    """Most worker processes to use."""
    return _positive("TRAINWRIGHT_JOBS", len(os.sched_getaffinity(0)))


def max_input_bytes() -> int:
    """Most bytes one input file may unpack to before it is refused."""
    return _positive("TRAINWRIGHT_MAX_BYTES", DEFAULT_MAX_BYTES)


def _positive(variable: str, default: int) -> int:
    text = os.environ.get(variable)
    if text is None:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise InputError(
            f"environment variable {variable} is {text!r}", allowed="a whole number of 1 or more", todo="correct it"
        )
    return int(text)
