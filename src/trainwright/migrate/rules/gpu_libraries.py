"""TW604: an import of a library that drives an NVIDIA GPU itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainwright.knowledge.libraries import roots
from trainwright.migrate.python.library_imports import import_remarks, use_remark
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import ImportHook, NameHook, Rule

if TYPE_CHECKING:
    from trainwright.migrate.python.module import ImportRef, NameRef, PythonFile


def visit(reference: ImportRef, file: PythonFile) -> Iterator[Remark]:
    """One remark per import statement and library."""
    return import_remarks(reference, file, number="TW604", kind="gpu")


def visit_name(reference: NameRef, file: PythonFile) -> Iterator[Remark]:
    """``numba.cuda.jit`` after a plain ``import numba``: the import itself says nothing about a GPU."""
    node: ast.AST = reference.node
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name) and file.named(node) == "numba":
        yield use_remark(reference, file, number="TW604")


RULE = Rule(
    code="gpu-libraries",
    number="TW604",
    summary="Libraries that only exist for NVIDIA GPUs.",
    why="Compilers, driver interfaces and data frames made for CUDA have no device to work on: the import or the first "
    "call fails.",
    before="import cupy as cp",
    hooks=(ImportHook(roots=roots("gpu"), visit=visit), NameHook(names=("numba.cuda.*",), visit=visit_name)),
)
