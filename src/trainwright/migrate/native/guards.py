"""Whether a place in Python is reached only with CUDA, and whether the code has another way without it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.conditions import CudaTerm, verdict
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.regions import only_raises

_MISSING = frozenset(("ImportError", "ModuleNotFoundError", "AttributeError", "NotImplementedError", "RuntimeError"))
_LEAVES = (ast.Return, ast.Continue, ast.Break)
_HOPS = 3


def only_with_cuda(file: PythonFile, node: ast.AST) -> bool:
    """Whether a node stands in a branch that is taken only where CUDA is (``x.is_cuda``, ``CUDA_HOME``)."""
    return any(_asks(file, test) for test, _ in _branches(file, node))


def fallback_line(file: PythonFile, node: ast.AST) -> int | None:
    """Line of what runs instead of a node where CUDA is missing; None when nothing does.

    A node inside a class or function counts as guarded when every use of that class or function in the file is.
    """
    return _fallback(file, node, 0)


def _fallback(file: PythonFile, node: ast.AST, hops: int) -> int | None:
    for test, other in _branches(file, node):
        if other is not None and _asks(file, test):
            return other
    caught = _caught(file, node)
    if caught is not None or hops >= _HOPS:
        return caught
    owner = _owner(file, node)
    if owner is None:
        return None
    lines = [_fallback(file, use, hops + 1) for use in _uses(file, owner)]
    return lines[0] if lines and None not in lines else None


def _branches(file: PythonFile, node: ast.AST) -> Iterator[tuple[ast.expr, int | None]]:
    """The tests that must hold for a node to run, each with the line of what runs when it does not."""
    at = node
    while (above := file.parent(at)) is not None and not isinstance(at, ast.ClassDef | ast.FunctionDef):
        if isinstance(above, ast.IfExp) and at is above.body:
            yield above.test, above.orelse.lineno
        elif isinstance(above, ast.If) and at in above.body:
            yield above.test, _other(file, above)
        at = above


def _other(file: PythonFile, branch: ast.If) -> int | None:
    """Line of what runs when the test of `branch` fails, unless that only raises."""
    if branch.orelse:
        return None if only_raises(branch.orelse) else branch.orelse[0].lineno
    if not isinstance(branch.body[-1], _LEAVES):
        return None
    above = file.parent(branch)
    for block in ("body", "orelse", "finalbody"):
        statements = getattr(above, block, None)
        if isinstance(statements, list) and branch in statements:
            rest = statements[statements.index(branch) + 1 :]
            return None if not rest or only_raises(rest) else rest[0].lineno
    return None


def _asks(file: PythonFile, test: ast.expr) -> bool:
    """Whether a test holds only with CUDA, and no edit makes it hold with the NPU."""
    return verdict(test, CudaTerm(file)) > 0


def _caught(file: PythonFile, node: ast.AST) -> int | None:
    """Line of the handler that takes over when there is no module or no implementation for the device.

    A handler of every exception reports failures more often than it makes up for them.
    """
    at = node
    while (above := file.parent(at)) is not None and not isinstance(at, ast.ClassDef | ast.FunctionDef):
        if isinstance(above, ast.Try) and at in above.body:
            for handler in above.handlers:
                raises = any(isinstance(part, ast.Raise) for part in ast.walk(handler))
                if not raises and not _MISSING.isdisjoint(_caught_names(handler)):
                    return handler.lineno
        at = above
    return None


def _caught_names(handler: ast.ExceptHandler) -> list[str]:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [kind.id for kind in kinds if isinstance(kind, ast.Name)]


def _owner(file: PythonFile, node: ast.AST) -> str | None:
    """Name of the class or function at the top of the module that a node stands in."""
    at = node
    while (above := file.parent(at)) is not None and not isinstance(above, ast.Module):
        at = above
    return at.name if isinstance(at, ast.ClassDef | ast.FunctionDef) else None


def _uses(file: PythonFile, owner: str) -> list[ast.Name]:
    """Where a class or function is used, aliases such as ``run = Owner.apply`` followed, itself left out."""
    names = {owner}
    for node in file.index.attributes:
        kept = file.parent(node) if node.attr == "apply" and _is_name(node.value, owner) else None
        if isinstance(kept, ast.Assign) and isinstance(kept.targets[0], ast.Name):
            names.add(kept.targets[0].id)
    found: list[ast.Name] = []
    for name in file.index.names:
        if name.id in names and isinstance(name.ctx, ast.Load):
            above = file.parent(name)
            alias = isinstance(above, ast.Attribute) and isinstance(file.parent(above), ast.Assign)
            if _owner(file, name) != owner and not (alias and name.id == owner):
                found.append(name)
    return found


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
