"""The contract of a command leaf: arguments in, an exit code out. The help text is the module's docstring.

Command modules import only the standard library at their top; what they need is imported when they run, so that
``trainwright --help`` stays fast.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from trainwright.core.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Command:
    """One sub-command (module constant ``COMMAND``).

    `description` is shown by ``--help`` (usually the module's docstring), `examples` below it. `run` returns 0 when
    all is fine and 1 when the thing asked about is not; wrong input raises `InputError`.
    """

    code: str
    summary: str
    description: str
    examples: tuple[str, ...]
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    order: int = 50


COMMANDS: Registry[Command] = Registry(kind="command", package="trainwright.cli.commands", constant="COMMAND")
