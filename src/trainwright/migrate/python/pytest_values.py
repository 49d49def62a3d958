"""Values that pytest gives to tests: from a list in a decorator to the parameter or fixture that receives them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainwright.migrate.python.module import PythonFile

PARAM = "pytest.param"
_PARAMETRIZE = "pytest.mark.parametrize"
_FIXTURES = frozenset({"pytest.fixture", "pytest_asyncio.fixture"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def takers(file: PythonFile, call: ast.Call, place: int | str) -> list[ast.arg]:
    """The parameters that get each value of an argument of ``parametrize``, where it names one parameter."""
    names = _names(file, call) if place in (1, "argvalues") else []
    return _parameters(file, call, names[0]) if len(names) == 1 else []


def row_takers(file: PythonFile, expr: ast.AST, row: ast.AST) -> list[ast.arg]:
    """The parameters that get one value of a row, where ``parametrize`` names several."""
    values = file.parent(row)
    call = file.parent(values) if isinstance(values, ast.List | ast.Tuple) else None
    if not isinstance(call, ast.Call) or values not in call.args[1:2]:
        return []
    cells = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [])
    names, at = _names(file, call), next((at for at, cell in enumerate(cells) if cell is expr), -1)
    return _parameters(file, call, names[at]) if len(names) > 1 and 0 <= at < len(names) else []


def fixture_reads(file: PythonFile, call: ast.Call, place: int | str) -> list[ast.Attribute]:
    """Where a fixture reads ``request.param``, when a call is its decorator and an argument its ``params``."""
    owner = file.parent(call)
    if place != "params" or file.named(call.func) not in _FIXTURES or not isinstance(owner, _Function):
        return []
    return reads(file, owner)


def reads(file: PythonFile, function: ast.AST) -> list[ast.Attribute]:
    """The reads of ``request.param`` in a function."""
    return [
        node
        for node in file.attribute_reads.get("param", [])
        if isinstance(node.value, ast.Name) and node.value.id == "request" and enclosing(file, node) is function
    ]


def fixture_users(file: PythonFile, function: _Function) -> list[ast.arg]:
    """The parameters that get what a fixture returns."""
    if not any(_is_fixture(file, decorator) for decorator in function.decorator_list):
        return []
    return [arg for other in file.index.functions for arg in _arguments(other) if arg.arg == function.name]


def enclosing(file: PythonFile, node: ast.AST) -> _Function | None:
    """The function a node stands in."""
    at = file.parent(node)
    while at is not None and not isinstance(at, _Function):
        at = file.parent(at)
    return at


def _is_fixture(file: PythonFile, decorator: ast.expr) -> bool:
    return file.named(decorator.func if isinstance(decorator, ast.Call) else decorator) in _FIXTURES


def _names(file: PythonFile, call: ast.Call) -> list[str]:
    """The parameters a ``parametrize`` names; none when their values go to fixtures of those names first."""
    indirect = any(keyword.arg == "indirect" for keyword in call.keywords)
    if file.named(call.func) != _PARAMETRIZE or indirect or not call.args:
        return []
    given = call.args[0]
    if isinstance(given, ast.Tuple | ast.List):
        return [str(file.constant(each)) for each in given.elts]
    names = file.constant(given)
    return [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else []


def _parameters(file: PythonFile, call: ast.Call, name: str) -> list[ast.arg]:
    owner = file.parent(call)
    functions = owner.body if isinstance(owner, ast.ClassDef) else [owner]
    found = (arg for each in functions if isinstance(each, _Function) for arg in _arguments(each))
    return [arg for arg in found if arg.arg == name]


def _arguments(function: _Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
