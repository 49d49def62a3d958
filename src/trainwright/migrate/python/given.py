"""What a value is given to (argument, key, variable, attribute, option), and whether a use is a choice."""

from __future__ import annotations

import ast

from trainwright.migrate.python.flow import option_dest
from trainwright.migrate.python.module import PythonFile

_FIELDS = frozenset({"dataclasses.field", "pydantic.Field", "pydantic.fields.Field", "typer.Option"})


def given_to(file: PythonFile, expr: ast.expr) -> str:
    """Name of the setting that takes the value of `expr`, also through ``a if b else c`` and ``a or b``.

    The name of an argument, a key, a variable, an attribute or a command-line option; empty when it is not clear.
    """
    node: ast.AST = expr
    above = file.parent(node)
    while isinstance(above, ast.BoolOp) or (isinstance(above, ast.IfExp) and node is not above.test):
        node, above = above, file.parent(above)
    if isinstance(above, ast.keyword):
        return _keyword(file, above.arg or "", file.parent(above))
    if isinstance(above, ast.Dict) and node in above.values:
        return _text(file.constant(above.keys[above.values.index(node)]))
    if isinstance(above, ast.Assign):
        return _target(file, above.targets[0]) if len(above.targets) == 1 else ""
    if isinstance(above, ast.AnnAssign | ast.NamedExpr):
        return _target(file, above.target)
    return _parameter(above, node) if isinstance(above, ast.arguments) else ""


def _keyword(file: PythonFile, name: str, call: ast.AST | None) -> str:
    if not isinstance(call, ast.Call):
        return ""
    if name == "default" and file.named(call.func) in _FIELDS:
        return given_to(file, call)
    if name == "default" and isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
        return option_dest(call)
    return name


def _target(file: PythonFile, target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    return _text(file.constant(target.slice)) if isinstance(target, ast.Subscript) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parameter(above: ast.arguments, node: ast.AST) -> str:
    """The parameter that an expression is the default of."""
    positional = [*above.posonlyargs, *above.args]
    pairs = [
        *zip(positional[len(positional) - len(above.defaults) :], above.defaults, strict=True),
        *zip(above.kwonlyargs, above.kw_defaults, strict=True),
    ]
    return next((arg.arg for arg, default in pairs if default is node), "")


def is_optional(node: ast.AST, file: PythonFile, *, root: str, words: tuple[str, ...]) -> bool:
    """Whether a use of a library is a choice: its import is guarded, and a condition that names it stands above."""
    imports = [found for found in file.import_refs if found.name.partition(".")[0] == root]
    if not imports or not all(found.guarded for found in imports):
        return False
    at, above = node, file.parent(node)
    while above is not None:
        if isinstance(above, ast.If | ast.IfExp) and at is not above.test:
            test = file.text(above.test).lower()
            negated = "not " in test.replace("is not none", "") or "is none" in test
            last = at is above.orelse or (isinstance(above.orelse, list) and at in above.orelse)
            if negated == last and any(word in test for word in words):
                return True
        at, above = above, file.parent(above)
    return False
