"""Where a name in a Python file is put to use, and whether an imported package is the project's own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainwright.migrate.python.module import NameRef, PythonFile

_TYPE_TESTS = frozenset({"isinstance", "issubclass"})


def is_use(reference: NameRef, file: PythonFile) -> bool:
    """Whether a reference can run what it names: not an import, a type annotation, an `isinstance` test or a guard."""
    node: ast.AST = reference.node
    if isinstance(node, ast.alias) or file.is_typing_only(node):
        return False
    while (above := file.parent(node)) is not None and not isinstance(node, ast.stmt):
        if isinstance(above, ast.arg):
            return False
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and node is above.returns:
            return False
        if isinstance(above, ast.AnnAssign) and node is above.annotation:
            return False
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in _TYPE_TESTS:
            return False
        node = above
    return True


def is_own_package(dotted: str, file: PythonFile) -> bool:
    """Whether the first part of an imported name is the project's own: at its top, beside or around the file."""
    root = dotted.split(".", 1)[0]
    folders = file.source.path.split("/")[:-1]
    beside = ".".join([*folders, root])
    return root in folders or root in file.project.packages or beside in file.project.packages
