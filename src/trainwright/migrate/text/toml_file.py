"""Read TOML: scalars under their keys with their bytes. `tomllib` says whether a file is valid."""

from __future__ import annotations

import re
import sys

from trainwright.migrate.text.yaml_file import Scalar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_LINE_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"[ \t]*(?:(?P<bare>[A-Za-z0-9_-]+)|\"(?P<basic>(?:[^\"\\\n]|\\.)*)\"|'(?P<literal>[^'\n]*)')[ \t]*")
_STRING = re.compile(
    r'"""(?P<long>.*?(?<!\\)"{0,2})"""'
    r"|'''(?P<raw>.*?'{0,2})'''"
    r'|"(?P<basic>(?:[^"\\\n]|\\.)*)"'
    r"|'(?P<literal>[^'\n]*)'",
    re.DOTALL,
)
_WORD = re.compile(r"[^\s,\]}#]+")


class _UnreadableError(Exception):
    """The text goes on in a way this reader does not expect."""


def read_toml(text: str) -> list[Scalar] | str:
    """All scalars of raw text in order of place; a sentence when it is not TOML."""
    try:
        tomllib.loads(text.encode("latin-1").decode("utf-8-sig").replace("\r\n", "\n"))
        return _Reader(text).read()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, _UnreadableError):
        return "It is not valid TOML"


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 3 if text.startswith("\xef\xbb\xbf") else 0
        self.found: list[Scalar] = []
        self._owner = 0

    def read(self) -> list[Scalar]:
        """The whole document."""
        table: tuple[str, ...] = ()
        while self._skip():
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table, self._owner)
        return sorted(self.found, key=lambda scalar: scalar.start)

    def _skip(self) -> bool:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at < len(self.text)

    def _header(self) -> tuple[str, ...]:
        double = self.text.startswith("[[", self.at)
        self.at += 1 + double
        self._owner += 1
        path = tuple(self._keys(self._owner, ()))
        self.at += 1 + double
        return (*path, "[]") if double else path

    def _keys(self, owner: int, above: tuple[str, ...], *, record: bool = False) -> list[str]:
        keys: list[str] = []
        while True:
            match = _KEY.match(self.text, self.at)
            if match is None or match.lastgroup is None:
                raise _UnreadableError
            group = match.lastgroup
            keys.append(match.group(group))
            self.at = match.end()
            if self.text[self.at : self.at + 1] != ".":
                break
            self.at += 1
        if record:
            start, end = match.span(group)
            self.found.append(
                Scalar(path=(*above, *keys), value=keys[-1], start=start, end=end, inner=start, key=True, owner=owner)
            )
        return keys

    def _pair(self, table: tuple[str, ...], owner: int) -> None:
        keys = self._keys(owner, table, record=True)
        if self.text[self.at : self.at + 1] != "=":
            raise _UnreadableError
        self.at += 1
        self._value((*table, *keys), owner)

    def _value(self, path: tuple[str, ...], owner: int) -> None:
        match = _LINE_SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        char = self.text[self.at : self.at + 1]
        if char in ("[", "{") and char:
            self._group(path, char)
            return
        string = _STRING.match(self.text, self.at)
        found = string or _WORD.match(self.text, self.at)
        if found is None:
            raise _UnreadableError
        group = found.lastgroup or 0
        value = found.group(group)
        direct = group in ("literal", 0) or (group == "basic" and "\\" not in value)
        self.found.append(
            Scalar(
                path=path,
                value=value,
                start=found.start(),
                end=found.end(),
                inner=found.start(group) if direct else -1,
                owner=owner,
            )
        )
        self.at = found.end()

    def _group(self, path: tuple[str, ...], char: str) -> None:
        """A list, or an inline table."""
        self.at += 1
        self._owner += 1
        owner, close = self._owner, "]" if char == "[" else "}"
        while self._skip():
            if self.text[self.at] == close:
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
            elif char == "[":
                self._value((*path, "[]"), owner)
            else:
                self._pair(path, owner)
        raise _UnreadableError
