"""Whether a literal in Python is the name of an environment variable: a key of the environment in any form."""

from __future__ import annotations

import ast

from trainwright.migrate.python.module import PythonFile

_CALLS = frozenset({"os.getenv", "os.putenv", "os.unsetenv"})
_METHODS = frozenset({"get", "pop", "setdefault", "__contains__", "__getitem__", "__setitem__", "__delitem__"})
#: Methods that pytest has for variables, and nobody else.
_OF_PYTEST = frozenset({"setenv", "delenv"})
_VIEWS = frozenset({"copy", "deepcopy", "keys", "items"})


def is_environment_key(file: PythonFile, node: ast.expr) -> bool:
    """Whether a literal is the name of a variable: a key of the environment, or of a copy that a program is given."""
    return _is_key(file, node) or _is_key_by_name(file, node)


def _is_key(file: PythonFile, node: ast.expr) -> bool:
    above = file.parent(node)
    if isinstance(above, ast.Subscript) and above.slice is node:
        return _is_environment(file, above.value)
    if isinstance(above, ast.Call) and above.args[:1] == [node]:
        func = above.func
        if file.named(func) in _CALLS:
            return True
        if not isinstance(func, ast.Attribute):
            return False
        return func.attr in _OF_PYTEST or (func.attr in _METHODS and _is_environment(file, func.value))
    if isinstance(above, ast.Compare):
        return _is_compared(file, node, above)
    if isinstance(above, ast.Dict) and node in above.keys:
        return _is_environment_dict(file, above)
    return False


def _is_compared(file: PythonFile, node: ast.expr, above: ast.Compare) -> bool:
    """``"NAME" in os.environ``, and ``key == "NAME"`` where ``key`` runs over the environment."""
    if above.left is node and isinstance(above.ops[0], ast.In | ast.NotIn):
        return _is_environment(file, above.comparators[0])
    sides = [side for side in (above.left, *above.comparators) if side is not node]
    return isinstance(above.ops[0], ast.Eq | ast.NotEq) and any(_runs_over(file, side) for side in sides)


def _runs_over(file: PythonFile, expr: ast.expr) -> bool:
    at = file.parent(expr)
    while isinstance(expr, ast.Name) and at is not None and not isinstance(at, ast.FunctionDef | ast.ClassDef):
        loops = [at] if isinstance(at, ast.For) else getattr(at, "generators", [])
        for loop in loops:
            first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
            if isinstance(first, ast.Name) and first.id == expr.id:
                return _is_environment(file, loop.iter)
        at = file.parent(at)
    return False


def _is_key_by_name(file: PythonFile, node: ast.expr) -> bool:
    """``KEY = "NAME"``, or ``for KEY in ("NAME", ...)``, where ``os.environ[KEY]`` is used."""
    above = file.parent(node)
    if isinstance(above, ast.List | ast.Tuple | ast.Set):
        node, above = above, file.parent(above)
    target: ast.expr | None = None
    if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(node, ast.Constant):
        target = above.targets[0]
    elif isinstance(above, ast.For | ast.comprehension) and above.iter is node:
        target = above.target
    if not isinstance(target, ast.Name):
        return False
    found = file.index.scopes[target].lookup(target.id)
    return any(_is_key(file, use) for use in (file.uses.get((found[0], target.id), []) if found else []))


def _is_environment(file: PythonFile, expr: ast.expr) -> bool:
    """``os.environ``, a copy of it, or a variable that holds one."""
    if file.named(expr) == "os.environ":
        return True
    if isinstance(expr, ast.Call):
        func = expr.func
        if isinstance(func, ast.Attribute) and func.attr in _VIEWS:
            values = [func.value, *expr.args]
        else:
            values = list(expr.args[:1])
        return any(file.named(value) == "os.environ" for value in values)
    if isinstance(expr, ast.Dict):
        return _spreads_environment(file, expr)
    if isinstance(expr, ast.Name) and expr in file.index.scopes:
        bindings = file.bindings(expr)
        return bool(bindings) and all(
            binding.value is not None
            and not isinstance(binding.value, ast.Name)
            and _is_environment(file, binding.value)
            for binding in bindings
        )
    return False


def _spreads_environment(file: PythonFile, node: ast.Dict) -> bool:
    return any(
        key is None and file.named(value) == "os.environ" for key, value in zip(node.keys, node.values, strict=True)
    )


def _is_environment_dict(file: PythonFile, node: ast.Dict) -> bool:
    """What becomes the environment: ``env={...}``, ``os.environ.update({...})``, ``patch.dict(os.environ, {...})``."""
    if _spreads_environment(file, node):
        return True
    above = file.parent(node)
    if isinstance(above, ast.keyword):
        return above.arg in ("env", "env_vars")
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
        if above.func.attr == "update":
            return _is_environment(file, above.func.value)
        first = above.args[0]
        return (
            above.func.attr == "dict" and (_is_environment(file, first) or file.constant(first) == "os.environ")
            if above.args
            else False
        )
    return False
