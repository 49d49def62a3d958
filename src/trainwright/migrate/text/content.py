"""What is found in a file that is not a program of the host language, whatever its format.

All places are byte offsets. Readers work on `raw` text, in which one character is one byte, so that offsets need no
conversion; what is compared there are ASCII words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from trainwright.migrate.source import Source

#: Codes of the language leaves whose documents hold a `TextContent`.
TEXT_LANGUAGES = (
    "shell", "makefile", "dockerfile", "requirements", "yaml-config", "json-config", "toml-config", "ini-config",
    "notebook",
)  # fmt: skip
_NAME = r"(?<![A-Za-z0-9_]){}(?![A-Za-z0-9_])"


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word of a command.

    Args:
        text: without quotes; expansions as they are written.
        start, end: the bytes, with quotes.
        inner: first byte of `text` when it stands in the file as it is, else -1.
        literal: has no expansions.
    """

    text: str
    start: int
    end: int
    inner: int = -1
    literal: bool = True


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A variable gets a value: ``export NAME=value``, ``NAME=value command``, ``ENV NAME value``, ``NAME: value``.

    `literal`: the value has no expansions. `words` are those of the value, when it is a list or an argument string.
    """

    name: str
    start: int
    end: int
    value: str
    value_start: int
    value_end: int
    literal: bool = True
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Use:
    """A variable is read (``$NAME``, ``${NAME:-0}``) or named (``unset NAME``); the bytes of the name."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Command:
    """One simple command. `piped`: another command reads its output; `captured`: the script does."""

    words: tuple[Word, ...]
    piped: bool = False
    captured: bool = False

    @property
    def name(self) -> str:
        """The last part of the path of the program."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A value of a configuration file under the keys that lead to it; list positions are ``[]``."""

    path: tuple[str, ...]
    value: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """The last key, list positions aside."""
        return next((part for part in reversed(self.path) if part != "[]"), "")


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A distribution that is asked for.

    Args:
        name: as written.
        specifier: versions, as written (``==2.1.0+cu118``); may be empty.
        marker: environment marker behind ``;``; may be empty.
        start, end: the bytes of the name and what follows it, without comment.
        source: ``pip``, ``conda`` or ``poetry``: whose names these are.
    """

    name: str
    specifier: str
    marker: str
    start: int
    end: int
    source: Literal["pip", "conda", "poetry"] = "pip"


@dataclass(frozen=True, kw_only=True)
class PackageIndex:
    """A place packages are taken from: ``--extra-index-url URL``, or a conda channel."""

    url: str
    start: int
    end: int
    source: Literal["pip", "conda", "poetry"] = "pip"


@dataclass(frozen=True, kw_only=True)
class Image:
    """A container image that is built upon or run."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class TextContent:
    """Everything found in one file; `problem` says why it could not be read, and is empty when it could."""

    commands: tuple[Command, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    uses: tuple[Use, ...] = ()
    settings: tuple[Setting, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    indexes: tuple[PackageIndex, ...] = ()
    images: tuple[Image, ...] = ()
    problem: str = ""


def joined(parts: Iterable[TextContent]) -> TextContent:
    """What is found in several parts of one file."""
    listed = list(parts)
    lists = [field.name for field in fields(TextContent) if field.name != "problem"]
    found = {name: tuple(item for part in listed for item in getattr(part, name)) for name in lists}
    return TextContent(**found, problem=next((part.problem for part in listed if part.problem), ""))


def raw(source: Source) -> str:
    """The bytes of a file as text in which one character is one byte."""
    return source.data.decode("latin-1")


def mentions(text: str, name: str) -> list[int]:
    """Where a name stands as a word in raw text, comments aside."""
    found = []
    for match in re.finditer(_NAME.format(re.escape(name)), text):
        lead = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not re.search(r"(?:^|\s)#", lead):
            found.append(match.start())
    return found
