"""Bring remarks on the virtual source of a notebook back into its file."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.source import Source
from trainwright.migrate.text.notebook import Cell, Notebook

_BEFORE = re.compile(r"\n[ \t]*\Z")


class NotebookPlaces:
    """Maps byte offsets of a virtual source to byte offsets of the file."""

    def __init__(self, file: Source, book: Notebook, virtual: Source) -> None:
        self._file = file
        self._book = book
        self._virtual = virtual

    def remark(self, remark: Remark) -> Remark:
        """The same remark, at its place in the file."""
        start, end = self._chars(remark.start, remark.end)
        at = self._file.byte_at
        return replace(
            remark,
            start=at(start),
            end=at(end),
            edits=tuple(self._edit(edit) for edit in remark.edits),
        )

    def _chars(self, start: int, end: int) -> tuple[int, int]:
        book, last = self._book, len(self._book.starts) - 1
        first, stop = self._virtual.char_at(start), self._virtual.char_at(end)
        begin = book.starts[min(first, last)]
        return begin, max(begin, book.ends[min(stop, last + 1) - 1]) if stop > first else begin

    def _edit(self, edit: Edit) -> Edit:
        if edit.start == edit.end:
            return self._insertion(self._virtual.char_at(edit.start), edit.new)
        start, end = self._chars(edit.start, edit.end)
        return Edit(start=self._file.byte_at(start), end=self._file.byte_at(end), new=_escaped(edit.new))

    def _insertion(self, char: int, new: str) -> Edit:
        """New text between two characters. Whole new lines become entries of the list of lines."""
        book = self._book
        number = next((number for number, cell in enumerate(book.cells) if cell.start <= char < cell.end), None)
        if number is None or (char == book.cells[number].start and number and new.endswith("\n")):
            return self._behind(book.cells[(number or len(book.cells)) - 1], new)
        cell, place = book.cells[number], book.starts[char]
        literal = next((literal for literal in cell.literals if literal.start + 1 == place), None)
        if literal is not None and cell.listed and new.endswith("\n"):
            lines = "".join(json.dumps(line) + "," + self._gap(literal.start) for line in new.splitlines(keepends=True))
            return self._at(literal.start, lines)
        return self._at(place, _escaped(new))

    def _behind(self, cell: Cell, new: str) -> Edit:
        """New lines at the end of a cell."""
        last = cell.literals[-1]
        ends_line = self._file.text[last.start : last.end - 1].endswith("\\n")
        lead = "" if ends_line else "\\n"
        if not cell.listed:
            return self._at(last.end - 1, lead + _escaped(new.rstrip("\n")))
        return self._at(last.end - 1, f'{lead}",{self._gap(last.start)}"{_escaped(new.rstrip(chr(10)))}')

    def _gap(self, char: int) -> str:
        """What stands between two entries of the list."""
        found = _BEFORE.search(self._file.text[max(char - 80, 0) : char])
        return found.group() if found else " "

    def _at(self, char: int, new: str) -> Edit:
        at = self._file.byte_at(char)
        return Edit(start=at, end=at, new=new)


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]
