"""Where ``import torch_npu`` goes: at the top of the module, after ``import torch``, where every use can see it."""

from __future__ import annotations

import ast

from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.remark import Edit

_LINE = "import torch_npu"


def registration(file: PythonFile) -> Edit | None:
    """The edit that imports torch_npu; None when the module does already.

    Behind the first unconditional import of torch at the top of the module; inside a ``try`` at the top when torch is
    imported only there (a machine without torch must still get to its ``except``); else behind the docstring, the
    ``__future__`` imports and the other imports at the top. Never in a function or under ``TYPE_CHECKING``.
    """
    body = file.tree.body
    if any(_imports(node, "torch_npu") for node in body):
        return None
    for node in body:
        if _imports(node, "torch"):
            return _behind(file, node)
    for node in body:
        if isinstance(node, ast.Try):
            inner = next((child for child in node.body if _imports(child, "torch")), None)
            if any(_imports(child, "torch_npu") for child in node.body):
                return None
            if inner is not None:
                return _behind(file, inner)
    lead = _lead(body)
    if lead:
        return _behind(file, lead[-1])
    return _at_top(file, _LINE)


def before_imports(file: PythonFile, line: str) -> Edit:
    """The edit that puts a line before all imports of a module but those of ``__future__``, behind the docstring."""
    lead = [
        node
        for position, node in enumerate(_lead(file.tree.body))
        if (position == 0 and isinstance(node, ast.Expr))
        or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    ]
    return _behind(file, lead[-1], line) if lead else _at_top(file, line)


def _at_top(file: PythonFile, line: str) -> Edit:
    start = file.tree.body[0] if file.tree.body else None
    at = file.source.byte_at(file.source.line_starts[start.lineno - 1]) if start else file.source.bom
    return Edit(start=at, end=at, new=f"{line}\n")


def _lead(body: list[ast.stmt]) -> list[ast.stmt]:
    """The docstring and the imports that begin a module."""
    found: list[ast.stmt] = []
    for position, node in enumerate(body):
        documentation = position == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not documentation and not isinstance(node, ast.Import | ast.ImportFrom):
            break
        found.append(node)
    return found


def _imports(node: ast.stmt, package: str) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] == package for alias in node.names)
    return isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == package


def _behind(file: PythonFile, node: ast.stmt, text: str = _LINE) -> Edit:
    """A line of its own below the statement, with its indentation; after ``;`` when the line goes on with another."""
    source = file.source
    start, end = file.chars(node)
    assert node.end_lineno is not None
    starts = source.line_starts
    line_end = starts[node.end_lineno] if node.end_lineno < len(starts) else len(source.text)
    rest = source.text[end:line_end].strip()
    lead = source.text[starts[node.lineno - 1] : start]
    if lead.strip() or (rest and not rest.startswith("#")):
        at = source.byte_at(end)
        return Edit(start=at, end=at, new=f"; {text}")
    newline = "" if source.text[:line_end].endswith(("\n", "\r")) else "\n"
    at = source.byte_at(line_end)
    return Edit(start=at, end=at, new=f"{newline}{lead}{text}" + ("" if newline else "\n"))
