"""Edits of import statements: another module, or some of the names from somewhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.remark import Edit

_MODULE = re.compile(r"from(?:\s|\\\r?\n)+([\w.]+)")


def module_edit(file: PythonFile, node: ast.ImportFrom, new: str) -> Edit | None:
    """Replace the module of ``from module import ...``; None when it is spelled in pieces."""
    start, end = file.chars(node)
    match = _MODULE.match(file.source.text, start, end)
    if match is None or match.group(1) != node.module:
        return None
    at = file.source.byte_at
    return Edit(start=at(match.start(1)), end=at(match.end(1)), new=new)


def alias_edit(file: PythonFile, alias: ast.alias, new: str) -> Edit:
    """Replace the imported name and keep what it is called in this file: ``NPUGraph as CUDAGraph``."""
    start, _ = file.chars(alias)
    at = file.source.byte_at
    text = new if alias.asname or new == alias.name else f"{new} as {alias.name}"
    return Edit(start=at(start), end=at(start + len(alias.name)), new=text)


def split(file: PythonFile, node: ast.ImportFrom, parts: Sequence[tuple[str, Sequence[str]]]) -> Edit | None:
    """Replace a ``from`` import by several: pairs of a module and what to import from it (``a as b``).

    None when a comment stands inside the statement: it would be lost.
    """
    start, end = file.chars(node)
    text = file.source.text
    if "#" in text[start:end]:
        return None
    statements = [f"from {module} import {', '.join(names)}" for module, names in parts]
    lead = text[file.source.line_starts[node.lineno - 1] : start]
    at = file.source.byte_at
    between = "; " if lead.strip() or _goes_on(text, end) else f"\n{lead}"
    return Edit(start=at(start), end=at(end), new=between.join(statements))


def _goes_on(text: str, end: int) -> bool:
    return re.match(r"[ \t]*;", text[end:]) is not None


def written(alias: ast.alias, name: str) -> str:
    """An imported name as it stands in a ``from`` import, called in this file what it was called before."""
    local = alias.asname or alias.name
    return name if local == name else f"{name} as {local}"
