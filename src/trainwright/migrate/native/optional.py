"""Whether a file goes on without a native module whose import may fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.module import PythonFile

_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "OSError"})


def without_module(file: PythonFile, node: ast.AST) -> int | None:
    """Line of the handler by which a file goes on when the module behind a reference cannot be imported.

    The handler leaves the function the reference stands in, or what it sets is asked for before the module is used.
    """
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    if not isinstance(node, ast.Name) or node not in file.index.scopes:
        return None
    for binding in file.bindings(node):
        for guard, handler in _guards(file, binding.node) if binding.kind == "import" else ():
            leaves = isinstance(handler.body[-1], ast.Return) and _function(file, guard) is _function(file, node)
            if leaves or any(_is_asked(file, name, guard) for name in _flags(guard, handler)):
                return handler.lineno
    return None


def _guards(file: PythonFile, node: ast.AST) -> Iterator[tuple[ast.Try, ast.ExceptHandler]]:
    at = node
    while (above := file.parent(at)) is not None:
        if isinstance(above, ast.Try) and at in above.body:
            for handler in above.handlers:
                kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
                raises = any(isinstance(part, ast.Raise) for part in ast.walk(handler))
                if not raises and (handler.type is None or not _MISSING.isdisjoint(names)):
                    yield above, handler
        at = above


def _flags(guard: ast.Try, handler: ast.ExceptHandler) -> Iterator[ast.Name]:
    """The names that tell later whether the import worked."""
    for statement in (*handler.body, *guard.body, *guard.orelse):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            yield from (target for target in statement.targets if isinstance(target, ast.Name))


def _is_asked(file: PythonFile, flag: ast.Name, guard: ast.Try) -> bool:
    """Whether a choice depends on a flag that does not only end in an error."""
    found = file.index.scopes[flag].lookup(flag.id)
    for use in file.uses.get((found[0], flag.id), []) if found else []:
        at: ast.AST = use
        while (above := file.parent(at)) is not None and above is not guard and not isinstance(at, ast.stmt):
            if isinstance(above, ast.IfExp) and at is above.test:
                return True
            if isinstance(above, ast.If) and at is above.test:
                return not any(block and isinstance(block[0], ast.Raise) for block in (above.body, above.orelse))
            at = above
    return False


def _function(file: PythonFile, node: ast.AST) -> ast.AST | None:
    at = file.parent(node)
    while at is not None and not isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
        at = file.parent(at)
    return at
