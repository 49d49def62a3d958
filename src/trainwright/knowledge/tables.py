"""The data files of the package: tab-separated, sorted, with a header line; read once, on first use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

FOLDER = "data"


@cache
def read_lines(name: str) -> tuple[str, ...]:
    """The lines of a data file."""
    text = files(__package__ or "").joinpath(FOLDER, name).read_text(encoding="utf-8")
    return tuple(text.splitlines())


@cache
def read_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table, without its header; every row has as many cells as the header."""
    lines = read_lines(name)
    width = lines[0].count("\t")
    rows = tuple(tuple(line.split("\t")) for line in lines[1:])
    assert all(len(row) == width + 1 for row in rows), f"{name}: a row with too few or too many cells"
    return rows


def table_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as it is kept on disk: sorted, LF."""
    cells = sorted({tuple(row) for row in rows})
    return "".join("\t".join(row) + "\n" for row in [tuple(header), *cells])


def lines_text(lines: Iterable[str]) -> str:
    """A list of names as it is kept on disk."""
    return "".join(f"{line}\n" for line in sorted(set(lines)))
