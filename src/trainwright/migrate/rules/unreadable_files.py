"""TW901: Python files that this interpreter cannot read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainwright.migrate.document import Document
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import FileHook, Rule

_CUDA = re.compile(r"torch\.cuda|\.cuda\(|[\"']cuda[:\"']|[\"']nccl[\"']|\bis_cuda\b")


def _visit(document: Document) -> Iterator[Remark]:
    """`document.content` is the error of the parser and the character offset it names."""
    message, at = document.content
    source = document.source
    lines = sorted({source.text.count("\n", 0, match.start()) + 1 for match in _CUDA.finditer(source.text)})
    shown = ", ".join(map(str, lines[:20])) + (", ..." if len(lines) > 20 else "")
    start = source.byte_at(min(at, len(source.text)))
    yield Remark(
        number=RULE.number,
        start=start,
        end=start,
        title="the file cannot be read as Python",
        detail=f"{message}. Nothing in it was rewritten."
        + (f" Lines that mention CUDA, found by text alone: {shown}." if lines else ""),
        advice="repair it, or bring it to Python 3 (2to3), and run migrate again",
        outcome="manual" if lines else "note",
        minutes=30 if lines else 0,
    )


RULE = Rule(
    code="unreadable-files",
    number="TW901",
    summary="A Python file that this interpreter cannot read.",
    why="A file in Python 2, in a newer Python, or with an error cannot be rewritten safely; it is reported instead.",
    before='print "loss", loss.cuda()',
    hooks=(FileHook(languages=("unreadable-python",), visit=_visit),),
)
