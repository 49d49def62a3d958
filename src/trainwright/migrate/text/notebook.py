"""Read notebooks: the code of all cells as one virtual source, and the way from it back into the JSON of the file.

Lines that only IPython understands become comments of equal length in the virtual source, so that the rest of a cell
can be read; commands among them are read as shell. Outputs are never looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from trainwright.migrate.source import Source
from trainwright.migrate.text.json_file import read_json
from trainwright.migrate.text.magics import Magics, read_magics
from trainwright.migrate.text.yaml_file import Scalar

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
#: Where a notebook names its language.
_LANGUAGE = (("metadata", "kernelspec", "language"), ("metadata", "language_info", "name"))
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One code cell: its characters in the virtual text, and the literals of the file that spell it."""

    start: int
    end: int
    literals: tuple[Scalar, ...]
    listed: bool


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """All code cells.

    Args:
        path: of the file.
        text: the cells one after the other, each with a newline at its end.
        starts, ends: for every character of `text` the characters of the file that spell it.
        cells: in order.
        magics: what IPython alone understands.
    """

    path: str
    text: str
    starts: list[int]
    ends: list[int]
    cells: tuple[Cell, ...]
    magics: Magics

    @property
    def python(self) -> Source:
        """The cells as Python."""
        return Source(path=self.path, data=self.magics.python.encode())

    @property
    def source(self) -> Source:
        """The cells as they are."""
        return Source(path=self.path, data=self.text.encode())


@dataclass
class _Draft:
    kind: str = ""
    literals: list[Scalar] = field(default_factory=list)
    listed: bool = False


def read_notebook(source: Source) -> Notebook | str:
    """The code cells of a notebook for Python; a sentence when the file is none."""
    scalars = read_json(source.text)
    if isinstance(scalars, str):
        return scalars
    if not _is_python(scalars):
        return ""
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    cells: list[Cell] = []
    for draft in _drafts(scalars):
        begin = len(starts)
        for literal in draft.literals:
            _spell(source.text, literal, text, starts, ends)
        if text[-1:] != ["\n"]:
            close = draft.literals[-1].end - 1
            text.append("\n")
            starts.append(close)
            ends.append(close)
        cells.append(Cell(start=begin, end=len(starts), literals=tuple(draft.literals), listed=draft.listed))
    whole = "".join(text)
    magics = read_magics(whole, [(cell.start, cell.end) for cell in cells])
    return Notebook(path=source.path, text=whole, starts=starts, ends=ends, cells=tuple(cells), magics=magics)


def _is_python(scalars: list[Scalar]) -> bool:
    named = [
        scalar.value.lower()
        for scalar in scalars
        if not scalar.key
        and scalar.path in (("metadata", "kernelspec", "language"), ("metadata", "language_info", "name"))
    ]
    return all(name in ("python", "ipython") for name in named)


def _drafts(scalars: list[Scalar]) -> list[_Draft]:
    """The code cells; keys of a cell come in any order."""
    drafts: dict[int, _Draft] = {}
    current = _Draft()
    for scalar in scalars:
        if scalar.path[:2] != ("cells", "[]"):
            continue
        if len(scalar.path) == 3:
            current = drafts.setdefault(scalar.owner, _Draft())
        if scalar.key:
            continue
        if scalar.path[2:] == ("cell_type",):
            current.kind = scalar.value
        elif scalar.path[2:] in (("source",), ("source", "[]")):
            current.literals.append(scalar)
            current.listed = len(scalar.path) == 4
    return [draft for draft in drafts.values() if draft.kind == "code" and draft.literals]


def _spell(file: str, literal: Scalar, text: list[str], starts: list[int], ends: list[int]) -> None:
    """Add the characters of a string literal and their places."""
    at, stop = literal.start + 1, literal.end - 1
    while at < stop:
        escape = _ESCAPE.search(file, at, stop)
        plain = escape.start() if escape else stop
        text += file[at:plain]
        starts += range(at, plain)
        ends += range(at + 1, plain + 1)
        at = plain
        if escape:
            text.append(_character(escape.group()))
            starts.append(escape.start())
            ends.append(escape.end())
            at = escape.end()


def _character(escape: str) -> str:
    code = escape[1]
    if code != "u":
        return _SIMPLE.get(code, code)
    if len(escape) > 6:
        high, low = int(escape[2:6], 16), int(escape[8:12], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    value = int(escape[2:6], 16)
    return "?" if 0xD800 <= value < 0xE000 else chr(value)
