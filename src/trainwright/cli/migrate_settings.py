"""What the user wants of a migration: the command line over the project's pyproject.toml over the defaults."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from trainwright.core.errors import InputError
from trainwright.migrate.options import TORCH_VERSIONS, Options
from trainwright.migrate.preferences import preferences_of
from trainwright.migrate.user_rules import UserRule, load_rules


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything a scan needs, and whether unsafe edits are wanted."""

    options: Options
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    exclude: tuple[str, ...]
    rules: tuple[UserRule, ...]
    unsafe: bool


def settings_of(path: Path, given: argparse.Namespace) -> Settings:
    """The settings for a project.

    Raises:
        InputError: a value in pyproject.toml or in the file of rules cannot be used.
    """
    wishes = preferences_of(path)
    defaults = Options()
    rules = given.rules or wishes.user_rules
    return Settings(
        options=Options(
            style=given.style or wishes.style or defaults.style,
            torch=check_torch(given.torch or wishes.torch or defaults.torch),
            soc=given.soc or wishes.soc or defaults.soc,
        ),
        select=tuple(given.select) or wishes.select,
        ignore=(*wishes.ignore, *given.ignore),
        exclude=(*wishes.exclude, *given.exclude),
        rules=load_rules(rules) if rules else (),
        unsafe=given.unsafe or wishes.unsafe,
    )


def check_torch(version: str) -> str:
    """The version as the support tables name it (``2.8`` for ``2.8.0``).

    Raises:
        InputError: the tables do not know it.
    """
    short = ".".join(version.split("+", maxsplit=1)[0].removeprefix("v").split(".")[:2])
    if short not in TORCH_VERSIONS:
        raise InputError(f"--torch {version} is not known", allowed=", ".join(TORCH_VERSIONS), todo="give the nearest")
    return short
