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
    given = os.environ.get("TRAINWRIGHT_CACHE")
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        if given:
            return Path(given).expanduser()
        return (Path(base) if base else Path.home() / ".cache") / "trainwright"
    except RuntimeError as error:  # no such user, or no home
        raise InputError(
            f"no folder for the store: {given or 'the home folder'} is not known", todo="set TRAINWRIGHT_CACHE"
        ) from error


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
