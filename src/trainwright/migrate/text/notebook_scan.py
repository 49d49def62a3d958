"""Scan a notebook: its cells as Python, its commands and magics as shell."""

from __future__ import annotations

from trainwright.migrate.document import Document
from trainwright.migrate.options import Options
from trainwright.migrate.project import Facts, Project
from trainwright.migrate.python.learn import learn_python
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.source import Source
from trainwright.migrate.text.content import Assignment, TextContent, joined, raw
from trainwright.migrate.text.notebook import Notebook, read_notebook
from trainwright.migrate.text.notebook_edits import NotebookPlaces
from trainwright.migrate.text.pip_commands import pip_requirements
from trainwright.migrate.text.scan import scan_document, speaks_of_devices, unread
from trainwright.migrate.text.shell import read_shell


def learn_notebook(source: Source) -> Facts:
    """What a notebook tells the other files: names that hold devices. It is meant to be run, and nobody imports it."""
    book = read_notebook(source) if b"torch" in source.data else ""
    if isinstance(book, str) or not book.cells:
        return Facts(path=source.path, language="notebook")
    learned = learn_python(book.python)
    return Facts(
        path=source.path,
        language="notebook",
        device_names=learned.device_names,
        backend_names=learned.backend_names,
        entry_point=True,
    )


def scan_notebook(source: Source, project: Project, options: Options) -> list[Remark]:
    """All remarks on a notebook, at their places in the file."""
    book = read_notebook(source)
    if isinstance(book, str):
        return [unread(source, book)] if book and speaks_of_devices(source) else []
    if not book.cells:
        return []
    python = book.python
    found = [NotebookPlaces(source, book, python).remark(each) for each in scan_python(python, project, options)]
    cells = book.source
    document = Document(
        source=cells, language="notebook", project=project, options=options, content=_content(book, cells)
    )
    places = NotebookPlaces(source, book, cells)
    found += [places.remark(each) for each in scan_document(document)]
    return [*found, *(places.remark(each) for each in _unread_cells(book, cells))]


def _content(book: Notebook, cells: Source) -> TextContent:
    text, at = raw(cells), cells.byte_at
    parts = [read_shell(text, at(start), at(end)) for start, end in book.magics.commands]
    variables = [
        Assignment(
            name=book.text[start:end],
            start=at(start),
            end=at(end),
            value=book.text[first:last].strip(),
            value_start=at(first),
            value_end=at(last),
            literal="$" not in book.text[first:last],
        )
        for start, end, first, last in book.magics.variables
    ]
    found = joined([*parts, TextContent(assignments=tuple(variables))])
    return joined([found, pip_requirements(found.commands)])


def _unread_cells(book: Notebook, cells: Source) -> list[Remark]:
    """Cells that no parser takes and that speak of devices."""
    found = []
    for number in book.magics.unread:
        cell = book.cells[number]
        part = Source(path=book.path, data=book.text[cell.start : cell.end].encode())
        if speaks_of_devices(part):
            begin = cells.byte_at(cell.start)
            remark = unread(part, f"Code cell {number + 1} is not valid Python", what=f"code cell {number + 1}")
            found.append(_moved(remark, begin))
    return found


def _moved(remark: Remark, by: int) -> Remark:
    return Remark(
        number=remark.number,
        start=remark.start + by,
        end=remark.end + by,
        title=remark.title,
        detail=remark.detail,
        advice=remark.advice,
        outcome=remark.outcome,
        minutes=remark.minutes,
        name=remark.name,
    )
