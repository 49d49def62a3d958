"""Read JSON: scalars under their keys with their bytes. Comments and trailing commas are taken as editors take them."""

from __future__ import annotations

import json
import re

from trainwright.migrate.text.yaml_file import Scalar

MOST_BYTES = 2 * 2**20
_TOKEN = re.compile(
    r'[\s,]+|//[^\n]*|/\*.*?\*/|(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*")|(?P<open>[\[{])|(?P<close>[\]}])|(?P<colon>:)'
    r"|(?P<word>[^\s,:\[\]{}\"]+)",
    re.DOTALL,
)
_INVALID = "It is not valid JSON"


def read_json(text: str) -> list[Scalar] | str:
    """All scalars of raw text in order of place; a sentence when it is not JSON."""
    reader = _Reader(text)
    return reader.found if reader.read() else _INVALID


class _Reader:
    """One pass over the tokens. `_stack` holds (opening, owner); `_path` the keys, with ``[]`` for lists."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Scalar] = []
        self._stack: list[tuple[str, int]] = []
        self._path: list[str] = []
        self._key = False

    def read(self) -> bool:
        """Whether the text was read to its end."""
        at, owner = 0, 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                return False
            at = match.end()
            kind = match.lastgroup
            if kind == "open":
                owner += 1
                self._open(match.group(), owner)
            elif kind == "close" and not self._close(match.group()):
                return False
            elif kind in ("string", "word"):
                self._scalar(match, string=kind == "string")
        return not self._stack

    def _open(self, char: str, owner: int) -> None:
        self._stack.append((char, owner))
        self._path.append("[]" if char == "[" else "")
        self._key = char == "{"

    def _close(self, char: str) -> bool:
        if not self._stack or self._stack.pop()[0] != {"]": "[", "}": "{"}[char]:
            return False
        self._path.pop()
        self._key = self._in_object()
        return True

    def _in_object(self) -> bool:
        return bool(self._stack) and self._stack[-1][0] == "{"

    def _scalar(self, match: re.Match[str], *, string: bool) -> None:
        text = match.group()
        value, direct = _value(text) if string else (text, True)
        key = self._key and self._in_object()
        if key:
            self._path[-1] = value
        self.found.append(
            Scalar(
                path=tuple(self._path),
                value=value,
                start=match.start(),
                end=match.end(),
                inner=match.start() + string if direct else -1,
                key=key,
                owner=self._stack[-1][1] if self._stack else 0,
            )
        )
        self._key = self._in_object() and not key


def _value(quoted: str) -> tuple[str, bool]:
    """The text of a string, and whether it stands there as it is."""
    if "\\" not in quoted:
        return quoted[1:-1], True
    try:
        return str(json.loads(quoted, strict=False)), False
    except ValueError:
        return quoted[1:-1], False
