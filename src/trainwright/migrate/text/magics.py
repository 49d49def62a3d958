"""What only IPython understands in the cells of a notebook: ``%magic``, ``!command``, ``help?``, ``%%bash``."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

#: Cell magics whose body is Python that runs here.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "memit", "mprun"})
_SHELL_CELLS = frozenset({"bash", "sh", "script", "shell"})
_CELL = re.compile(r"\s*%%(\w+)[^\n]*")
_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<sign>!!?|%|\?\??)(?P<rest>[^\n]*)")
_ASSIGNED = re.compile(r"[ \t]*[\w., \[\]\"']+=[ \t]*(?P<sign>[!%])(?P<rest>[^\n=][^\n]*)")
_HELP = re.compile(r"[ \t]*[%\w.*]+\?{1,2}[ \t]*$")
_ENVIRONMENT = re.compile(r"(?:set_)?env[ \t]+(?P<name>\w+)(?:[ \t]*=[ \t]*|[ \t]+)(?P<value>[^\n]*)")
#: Line magics in front of a statement of Python, with their options.
_STATEMENTS = re.compile(r"(?:time|timeit|prun|memit)(?:[ \t]+-\w+(?:[ \t]*\d+)?)*[ \t]+(?=[^\s-])")
#: Line magics whose text is a command of the shell.
_COMMANDS = re.compile(r"(?:pip|conda|mamba|sx|system|sh)\b")


@dataclass(frozen=True, kw_only=True)
class Magics:
    """What was found; all places are characters of the text.

    Args:
        python: the text with what is no Python turned into comments, of equal length.
        commands: shell text.
        variables: (name start, name end, value start, value end) of ``%env NAME=value``.
        foreign: cells that hold no Python at all.
        unread: cells that are meant as Python and cannot be read.
    """

    python: str
    commands: tuple[tuple[int, int], ...]
    variables: tuple[tuple[int, int, int, int], ...]
    foreign: frozenset[int]
    unread: tuple[int, ...]


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.chars = list(text)
        self.commands: list[tuple[int, int]] = []
        self.variables: list[tuple[int, int, int, int]] = []

    def hide(self, start: int, end: int) -> None:
        """Turn whole lines into comments."""
        for match in re.finditer(r"^[ \t]*(\S)", self.text[start:end], re.MULTILINE):
            self.chars[start + match.start(1)] = "#"

    def lines(self, start: int, end: int) -> None:
        """Line magics of a cell."""
        at = start
        while at < end:
            stop = self.text.find("\n", at, end)
            stop = end if stop < 0 else stop
            magic = _LINE.match(self.text, at, stop) or _ASSIGNED.match(self.text, at, stop)
            if magic:
                stop = self._continued(stop, end)
                self._magic(magic, stop)
            elif _HELP.match(self.text, at, stop):
                self.hide(at, stop)
            at = stop + 1

    def _continued(self, stop: int, end: int) -> int:
        while self.text[stop - 1] == "\\" and stop < end:
            following = self.text.find("\n", stop + 1, end)
            stop = end if following < 0 else following
        return stop

    def _magic(self, match: re.Match[str], stop: int) -> None:
        sign, first = match.start("sign"), match.start("rest")
        if self._statement(match):
            return
        value = self.text[first:stop]
        variable = _ENVIRONMENT.match(self.text, first, stop)
        if match.group("sign").startswith("!") or _COMMANDS.match(value):
            self.commands.append((first, stop))
        elif variable:
            self.variables.append((*variable.span("name"), *variable.span("value")))
        line_end = self.text.find("\n", sign, stop)
        self._comment(sign, stop if line_end < 0 else line_end)
        if line_end >= 0:
            self.hide(line_end + 1, stop)

    def _statement(self, match: re.Match[str]) -> bool:
        """Keep what ``%time`` runs, where it is Python by itself; an expression stands in its place."""
        front = _STATEMENTS.match(self.text, match.start("rest"), match.end())
        if match.group("sign") != "%" or front is None or "=" in self.text[match.start() : match.start("sign")]:
            return False
        if not _parses(f"0;{self.text[front.end() : match.end()]}"):
            return False
        start = match.start("sign")
        self.chars[start : front.end()] = "0;" + " " * (front.end() - start - 2)
        return True

    def _comment(self, sign: int, end: int) -> None:
        """An expression and a comment, so that a block with nothing else in it stays a block."""
        self.chars[sign] = "0"
        if sign + 1 < end:
            self.chars[sign + 1] = "#"


def read_magics(text: str, cells: Sequence[tuple[int, int]]) -> Magics:
    """The magics of all cells."""
    reader = _Reader(text)
    foreign, unread = set(), []
    for number, (start, end) in enumerate(cells):
        head = _CELL.match(text, start, end)
        if head and head.group(1) not in _PYTHON_CELLS:
            reader.hide(start, end)
            foreign.add(number)
            if head.group(1) in _SHELL_CELLS:
                reader.commands.append((min(head.end() + 1, end), end))
            continue
        if head:
            reader.hide(start, head.end())
        if not _parses("".join(reader.chars[start:end])):
            reader.lines(head.end() + 1 if head else start, end)
        if not _parses("".join(reader.chars[start:end])):
            reader.chars[start:end] = text[start:end]
            reader.hide(start, end)
            foreign.add(number)
            unread.append(number)
    return Magics(
        python="".join(reader.chars),
        commands=tuple(reader.commands),
        variables=tuple(reader.variables),
        foreign=frozenset(foreign),
        unread=tuple(unread),
    )


def _parses(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
