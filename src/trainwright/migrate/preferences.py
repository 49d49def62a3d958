"""What a project wants by itself: the table ``[tool.trainwright.migrate]`` of its pyproject.toml.

Options on the command line win; ``ignore`` and ``exclude`` of both count.
"""

from __future__ import annotations

import difflib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainwright.core.errors import InputError
from trainwright.migrate.options import TORCH_VERSIONS, Soc, Style

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TEXTS = {"style": ("npu", "agnostic", "shim"), "torch": TORCH_VERSIONS, "soc": ("A2", "A3", "950DT"), "user-rules": ()}
_LISTS = ("select", "ignore", "exclude")
_KEYS = (*_TEXTS, *_LISTS, "unsafe")
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """The table; what it does not say is empty. `user_rules` is a file inside the project."""

    style: Style | None = None
    torch: str = ""
    soc: Soc | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    unsafe: bool = False
    user_rules: Path | None = None


def preferences_of(path: Path) -> Preferences:
    """The wishes of the project at `path` (a folder, or a file in its folder).

    Raises:
        InputError: the table is there but not as it must be.
    """
    folder = path if path.is_dir() else path.parent
    file = folder / "pyproject.toml"
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return Preferences()
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return Preferences()  # a pyproject.toml nobody can read has no wishes; the scan names it
    table = _table(document, "tool", "trainwright", "migrate")
    where = f"{file}, [tool.trainwright.migrate]"
    for key, value in table.items():
        _check(where, key, value)
    rules = table.get("user-rules")
    return Preferences(
        style=table.get("style"),
        torch=table.get("torch", ""),
        soc=table.get("soc"),
        select=tuple(table.get("select", ())),
        ignore=tuple(table.get("ignore", ())),
        exclude=tuple(table.get("exclude", ())),
        unsafe=table.get("unsafe", False),
        user_rules=_inside(where, folder, rules) if rules else None,
    )


def _table(document: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        document = document.get(key, {}) if isinstance(document, dict) else {}
    return document if isinstance(document, dict) else {}


def _check(where: str, key: str, value: Any) -> None:
    if key not in _KEYS:
        close = difflib.get_close_matches(key, _KEYS, n=1)
        todo = f"did you mean {close[0]!r}" if close else "remove it"
        raise InputError(f"{where}: unknown key {key!r}", allowed=", ".join(_KEYS), todo=todo)
    if key in _LISTS:
        fine = isinstance(value, list) and all(isinstance(item, str) for item in value)
        allowed = "a list of texts"
    elif key == "unsafe":
        fine, allowed = isinstance(value, bool), "true or false"
    else:
        fine = isinstance(value, str) and (not _TEXTS[key] or value in _TEXTS[key])
        allowed = ", ".join(_TEXTS[key]) or "a path below the project"
    if not fine:
        raise InputError(f"{where}: {key} is {value!r}", allowed=allowed, todo="correct it")


def _inside(where: str, folder: Path, rules: str) -> Path:
    """The file of rules; a project may only name one of its own."""
    path = (folder / rules).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError(f"{where}: user-rules is {rules!r}", allowed="a path below the project", todo="use --rules")
    return path
