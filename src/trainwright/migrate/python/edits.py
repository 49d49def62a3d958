"""Remarks and edits that name a node of the syntax tree instead of bytes."""

from __future__ import annotations

import ast
import re
from typing import Any

from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.remark import Edit, Remark


def remark(file: PythonFile, node: ast.AST, *, number: str, title: str, **fields: Any) -> Remark:
    """A remark about the bytes of a node."""
    start, end = file.span(node)
    return Remark(number=number, title=title, start=start, end=end, **fields)


def replace(file: PythonFile, node: ast.AST, new: str) -> Edit:
    """Replace the whole text of a node."""
    start, end = file.span(node)
    return Edit(start=start, end=end, new=new)


def rename_attribute(file: PythonFile, node: ast.Attribute, new: str) -> Edit:
    """Replace only the name after the last dot of an attribute."""
    _, end = file.chars(node)
    at = file.source.byte_at
    return Edit(start=at(end - len(node.attr)), end=at(end), new=new)


def rename_alias(file: PythonFile, alias: ast.alias, new: str) -> Edit:
    """Replace the imported name of an alias, keep ``as name``."""
    start, _ = file.chars(alias)
    at = file.source.byte_at
    return Edit(start=at(start), end=at(start + len(alias.name)), new=new)


def argument_insert(file: PythonFile, call: ast.Call, text: str, *, first: bool = True) -> Edit:
    """Insert an argument text into a call, as the first or the last one."""
    start, end = file.chars(call)
    source = file.source.text
    if first:
        _, after = file.chars(call.func)
        opening = source.index("(", after)
        at = opening + 1
        more = bool(call.args or call.keywords)
        return _insert(file, at, f"{text}, " if more else text)
    close = end - 1
    body = source[start:close].rstrip()
    comma = "" if body.endswith((",", "(")) else ", "
    return _insert(file, start + len(body), f"{comma}{text}" if comma else f" {text}" if body.endswith(",") else text)


def _insert(file: PythonFile, char: int, text: str) -> Edit:
    at = file.source.byte_at(char)
    return Edit(start=at, end=at, new=text)


def insert_before(file: PythonFile, node: ast.AST, text: str) -> Edit:
    """Insert text right before a node."""
    return _insert(file, file.chars(node)[0], text)


def word_edit(file: PythonFile, node: ast.AST, word: str, new: str) -> Edit | None:
    """Replace `word` in the literal text of a node; None when it does not stand there exactly once as a word."""
    start, end = file.chars(node)
    found = list(re.finditer(rf"(?<![\w./-]){re.escape(word)}(?![\w./-])", file.source.text[start:end]))
    if len(found) != 1:
        return None
    at = file.source.byte_at
    return Edit(start=at(start + found[0].start()), end=at(start + found[0].end()), new=new)


def carrier(file: PythonFile, node: ast.AST, name: str) -> ast.AST | None:
    """The part of a reference that spells the last piece of the dotted `name`.

    In ``torch.cuda.synchronize`` the attribute ``torch.cuda`` spells ``torch.cuda``; in ``tc.synchronize`` (after
    ``import torch.cuda as tc``) nothing does, the import does.
    """
    last = name.rpartition(".")[2]
    at: ast.AST = node
    while True:
        if isinstance(at, ast.Attribute):
            if at.attr == last and file.named(at) == name:
                return at
            at = at.value
        elif isinstance(at, ast.Call):
            if file.named(at) != name or len(at.args) < 1:
                return None
            wanted = at.args[1] if isinstance(at.func, ast.Name) and at.func.id == "getattr" else at.args[0]
            return wanted if isinstance(wanted, ast.Constant) else None
        elif isinstance(at, ast.NamedExpr):
            at = at.value
        else:
            return None
