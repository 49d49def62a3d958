"""Where a value goes: forward from an expression to the calls, comparisons and names that consume it.

A string is a device only when it reaches something that takes a device. The walk goes up through expressions that hand
the value on (conditionals, formatting), through variables, attributes, parameters and return values, a few steps deep.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from trainwright.migrate.python import pytest_values
from trainwright.migrate.python.sinks import (
    BACKEND_NAMES,
    DEVICE_NAMES,
    role_of_argument,
    role_of_method,
    role_of_parameter,
)
from trainwright.migrate.remark import Confidence

if TYPE_CHECKING:
    from trainwright.migrate.python.module import PythonFile

RoleKind = Literal["device", "backend", "tensor_type"]
_DEPTH = 8


@dataclass(frozen=True, kw_only=True)
class Role:
    """What a value is used as; `sink` is the node that says so."""

    kind: RoleKind
    confidence: Confidence
    sink: ast.AST


# ruff: noqa: ARG002 - all handlers of a parent node share one signature
class Flow:
    """Follows values through one file."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        self._seen: set[ast.AST] = set()

    def role(self, expr: ast.expr) -> Role | None:
        """The role of the value of `expr`; None when nothing that we know of consumes it."""
        self._seen = set()
        return self._role(expr, 0) or self._where_available(expr)

    def _where_available(self, expr: ast.AST) -> Role | None:
        """What is chosen where ``torch.cuda.is_available()``: the two change together or the choice is wrong."""
        at, above = expr, self._file.parent(expr)
        while above is not None and not isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if isinstance(above, ast.IfExp) and at is above.body and self._asks_for_cuda(above.test):
                return Role(kind="device", confidence="inferred", sink=above)
            if isinstance(above, ast.If) and at in above.body and self._asks_for_cuda(above.test):
                named = isinstance(at, ast.Assign | ast.AnnAssign) and at.value is expr
                return Role(kind="device", confidence="inferred", sink=above) if named else None
            at, above = above, self._file.parent(above)
        return None

    def _asks_for_cuda(self, test: ast.expr) -> bool:
        return isinstance(test, ast.Call) and self._file.named(test.func) in (
            "torch.cuda.is_available",
            "torch.npu.is_available",
        )

    def direct(self, expr: ast.expr) -> Role | None:
        """The role by the immediate consumer alone, without following names."""
        self._seen = set()
        return self._role(expr, _DEPTH)

    def _role(self, expr: ast.AST, depth: int) -> Role | None:
        if expr in self._seen:
            return None
        self._seen.add(expr)
        above = self._file.parent(expr)
        handler = _HANDLERS.get(type(above))
        return handler(self, expr, above, depth) if handler else None

    def _pass(self, expr: ast.AST, above: ast.AST, depth: int) -> Role | None:
        return self._role(above, depth)

    def _sequence(self, expr: ast.AST, above: ast.AST, depth: int) -> Role | None:
        return self._given(pytest_values.row_takers(self._file, expr, above), depth) or self._role(above, depth)

    def _given(self, parameters: list[ast.arg], depth: int) -> Role | None:
        """The role of a value that pytest gives to parameters."""
        roles = (self._parameter(arg, depth + 1) for arg in parameters if depth < _DEPTH)
        return next(filter(None, roles), None)

    def _condition(self, expr: ast.AST, above: ast.IfExp, depth: int) -> Role | None:
        return None if expr is above.test else self._role(above, depth)

    def _subscript(self, expr: ast.AST, above: ast.Subscript, depth: int) -> Role | None:
        """``device: Literal["cpu", "cuda"] = "cuda"``: the annotation names the values of the parameter."""
        if expr is above.value or not self._file.named(above.value).endswith(".Literal"):
            return None
        at: ast.AST | None = above
        while isinstance(at, ast.Subscript | ast.BinOp | ast.Tuple):
            at = self._file.parent(at)
        if isinstance(at, ast.arg):
            return self._parameter(at, depth)
        return self._target(at.target, depth) if isinstance(at, ast.AnnAssign) else None

    def _operator(self, expr: ast.AST, above: ast.BinOp, depth: int) -> Role | None:
        formats = isinstance(above.op, ast.Mod | ast.Add) and expr is above.left
        return self._role(above, depth) if formats else None

    def _attribute(self, expr: ast.AST, above: ast.Attribute, depth: int) -> Role | None:
        call = self._file.call_of(above)
        if call is not None and above.attr in ("format", "lower", "strip", "decode"):
            return self._role(call, depth)
        return None

    def _keyword(self, expr: ast.AST, above: ast.keyword, depth: int) -> Role | None:
        call = self._file.parent(above)
        if isinstance(call, ast.Call) and above.arg:
            return self._argument(call, above.arg, depth)
        return None

    def _call(self, expr: ast.AST, above: ast.Call, depth: int) -> Role | None:
        if expr is above.func:
            return None
        position = above.args.index(expr) if expr in above.args else -1
        if position < 0 or any(isinstance(arg, ast.Starred) for arg in above.args[:position]):
            return None
        return self._argument(above, position, depth)

    def _argument(self, call: ast.Call, place: int | str, depth: int) -> Role | None:
        file, func = self._file, call.func
        name = file.named(func)
        if name.startswith("pytest"):
            return self._tested(call, place, depth)
        if name and (kind := role_of_argument(name, place)):
            return Role(kind=kind, confidence="resolved", sink=call)
        if isinstance(func, ast.Name) and func.id in ("str", "repr") and not name:
            return self._role(call, depth)
        if isinstance(func, ast.Attribute) and not name.startswith("torch."):
            role = self._method(call, func, place, depth)
            if role is not None:
                return role
        if name in ("dataclasses.field", "pydantic.Field", "typer.Option") and place in ("default", 0):
            return self._role(call, depth)
        role = self._local_parameter(call, place, depth)
        if role is not None:
            return role
        if isinstance(place, str) and (kind := role_of_parameter(place)):
            return Role(kind=kind, confidence="inferred", sink=call)
        return None

    def _tested(self, call: ast.Call, place: int | str, depth: int) -> Role | None:
        """``parametrize``, ``pytest.param`` and the ``params`` of a fixture."""
        if self._file.named(call.func) == pytest_values.PARAM and isinstance(place, int):
            return self._sequence(call.args[place], call, depth)
        role = self._given(pytest_values.takers(self._file, call, place), depth)
        return role or self._first(pytest_values.fixture_reads(self._file, call, place), depth)

    def _method(self, call: ast.Call, func: ast.Attribute, place: int | str, depth: int) -> Role | None:
        file = self._file
        if func.attr == "add_argument" and place in ("default", "choices", "const"):
            return self._option(call, depth)
        if func.attr in ("get", "pop", "setdefault", "getattr") and place == 1:
            key = file.constant(call.args[0])
            return self._by_name(key, call) if isinstance(key, str) else None
        if func.attr in ("startswith", "endswith", "__eq__") and self._is_device_like(func.value):
            return Role(kind="device", confidence="inferred", sink=call)
        kind = role_of_method(func.attr, place)
        if kind is None:
            return None
        receiver = file.kind(func.value)
        if receiver in ("other", "self", "device", "optimizer"):
            return None
        return Role(kind=kind, confidence="resolved" if receiver else "guessed", sink=call)

    def _option(self, call: ast.Call, depth: int) -> Role | None:
        dest = option_dest(call)
        if not dest:
            return None
        project = self._file.project
        if dest in project.backend_names:
            return Role(kind="backend", confidence="inferred", sink=call)
        if dest in project.device_names:
            return Role(kind="device", confidence="inferred", sink=call)
        return self._first(self._file.attribute_reads.get(dest, []), depth) or self._by_name(dest, call)

    def _local_parameter(self, call: ast.Call, place: int | str, depth: int) -> Role | None:
        if depth >= _DEPTH or not isinstance(call.func, ast.Name) or call.func not in self._file.index.scopes:
            return None
        bindings = self._file.bindings(call.func)
        node = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        arguments = [*node.args.posonlyargs, *node.args.args]
        if isinstance(place, int):
            wanted = arguments[place] if place < len(arguments) else None
        else:
            wanted = next((arg for arg in [*arguments, *node.args.kwonlyargs] if arg.arg == place), None)
        return self._parameter(wanted, depth + 1) if wanted is not None else None

    def _parameter(self, arg: ast.arg, depth: int) -> Role | None:
        inner = self._file.index.scopes.get(arg)
        uses = self._file.uses.get((inner, arg.arg), []) if inner else []
        return self._first(uses, depth) or self._by_name(arg.arg, arg)

    def _default(self, expr: ast.AST, above: ast.arguments, depth: int) -> Role | None:
        if depth >= _DEPTH:
            return None
        positional = [*above.posonlyargs, *above.args]
        pairs = [
            *zip(positional[len(positional) - len(above.defaults) :], above.defaults, strict=True),
            *zip(above.kwonlyargs, above.kw_defaults, strict=True),
        ]
        arg = next((arg for arg, default in pairs if default is expr), None)
        return self._parameter(arg, depth + 1) if arg is not None else None

    def _assigned(self, expr: ast.AST, above: ast.Assign | ast.AnnAssign | ast.NamedExpr, depth: int) -> Role | None:
        if isinstance(above, ast.NamedExpr) and (role := self._role(above, depth)):
            return role
        if depth >= _DEPTH:
            return None
        targets = above.targets if isinstance(above, ast.Assign) else [above.target]
        for target in targets:
            if role := self._target(target, depth + 1):
                return role
        return None

    def _target(self, target: ast.expr, depth: int) -> Role | None:
        file = self._file
        if isinstance(target, ast.Name):
            scope = file.index.scopes.get(target)
            found = scope.lookup(target.id) if scope else None
            uses: list[ast.Name] = file.uses.get((found[0], target.id), []) if found else []
            role = self._first(uses, depth)
            if role is None and scope is not None and scope.kind == "class":
                role = self._first(file.attribute_reads.get(target.id, []), depth)
            return role or self._by_name(target.id, target)
        if isinstance(target, ast.Attribute):
            return self._first(file.attribute_reads.get(target.attr, []), depth) or self._by_name(target.attr, target)
        if isinstance(target, ast.Subscript):
            key = file.constant(target.slice)
            return self._by_name(key, target) if isinstance(key, str) else None
        return None

    def _returned(self, expr: ast.AST, above: ast.Return, depth: int) -> Role | None:
        if depth >= _DEPTH:
            return None
        at: ast.AST | None = above
        while at is not None and not isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
            at = self._file.parent(at)
        if at is None:
            return None
        scope = self._file.index.scopes[at]
        uses: list[ast.Name] | list[ast.Attribute] = self._file.uses.get((scope, at.name), [])
        if scope.kind == "class":
            uses = self._file.attribute_reads.get(at.name, [])
        calls = [call for use in uses if (call := self._file.call_of(use))]
        role = self._first(calls, depth + 1) or self._by_name(at.name, at)
        return role or self._given(pytest_values.fixture_users(self._file, at), depth)

    def _compared(self, expr: ast.AST, above: ast.Compare, depth: int) -> Role | None:
        sides = [side for side in (above.left, *above.comparators) if side is not expr]
        for side in sides:
            name = self._file.named(side.func) if isinstance(side, ast.Call) else ""
            if name.endswith("get_backend"):
                return Role(kind="backend", confidence="resolved" if "torch." in name else "inferred", sink=above)
            if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and side.func.attr == "type":
                return Role(kind="tensor_type", confidence="inferred", sink=above)
            if self._is_device_like(side):
                sure: Confidence = "resolved" if self._is_device_type(side) else "inferred"
                return Role(kind="device", confidence=sure, sink=above)
            if (name := _last_name(side)) and (role := self._by_name(name, above)):
                return role
        return None

    def _is_device_type(self, expr: ast.expr) -> bool:
        return isinstance(expr, ast.Attribute) and expr.attr == "type" and self._file.kind(expr.value) == "device"

    def _is_device_like(self, expr: ast.expr) -> bool:
        """``x.device``, ``x.device.type``, ``str(device)``, a variable that is used as a device."""
        file = self._file
        if self._is_device_type(expr) or file.kind(expr) == "device":
            return True
        if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Name) and expr.func.id == "str" and expr.args:
            made = expr.args[0]
            return self._is_device_like(made.func if isinstance(made, ast.Call) else made) or self._is_device_like(made)
        if isinstance(expr, ast.Attribute) and expr.attr == "type":
            return self._is_device_like(expr.value)
        if isinstance(expr, ast.Attribute) and expr.attr == "param":
            where = pytest_values.enclosing(file, expr)
            role = self._first(pytest_values.reads(file, where), 0) if where is not None else None
            return role is not None and role.kind == "device"
        role = self._by_name(_last_name(expr), expr)
        return role is not None and role.kind == "device"

    def _entry(self, expr: ast.AST, above: ast.Dict, depth: int) -> Role | None:
        if expr in above.values:
            key = above.keys[above.values.index(expr)]
            name = self._file.constant(key)
            if isinstance(name, str) and (role := self._by_name(name, above)):
                return role
        return self._map_location(above, depth)

    def _map_location(self, node: ast.Dict, depth: int) -> Role | None:
        """``{"cuda:0": "cuda:1"}`` is a device map only where a map of devices is taken."""
        above = self._file.parent(node)
        if isinstance(above, ast.keyword) and above.arg == "map_location":
            return Role(kind="device", confidence="resolved", sink=above)
        if isinstance(above, ast.Assign):
            role = self._assigned(node, above, depth)
            return role if role and isinstance(role.sink, ast.Call) else None
        return None

    def _looped(self, expr: ast.AST, above: ast.For | ast.comprehension, depth: int) -> Role | None:
        return self._target(above.target, depth + 1) if expr is above.iter and depth < _DEPTH else None

    def _case(self, expr: ast.AST, above: ast.AST, depth: int) -> Role | None:
        at: ast.AST | None = above
        while at is not None and type(at).__name__ != "Match":
            at = self._file.parent(at)
        subject = getattr(at, "subject", None)
        if subject is not None and self._is_device_like(subject):
            return Role(kind="device", confidence="inferred", sink=subject)
        return None

    def _first(self, nodes: list[ast.Name] | list[ast.Attribute] | list[ast.Call], depth: int) -> Role | None:
        roles = (self._role(node, depth) for node in nodes[:64])
        return next((role for role in roles if role and role.confidence != "guessed"), None)

    def _by_name(self, name: object, node: ast.AST) -> Role | None:
        if not isinstance(name, str):
            return None
        project, plain = self._file.project, name.lower().lstrip("_")
        if plain in BACKEND_NAMES or name in project.backend_names:
            return Role(kind="backend", confidence="inferred", sink=node)
        if plain in DEVICE_NAMES or name in project.device_names:
            return Role(kind="device", confidence="inferred", sink=node)
        return None


def _last_name(expr: ast.expr) -> str:
    if isinstance(expr, ast.Name):
        return expr.id
    if isinstance(expr, ast.Attribute):
        return expr.attr
    if isinstance(expr, ast.Subscript) and isinstance(expr.slice, ast.Constant):
        return str(expr.slice.value)
    return ""


def option_dest(call: ast.Call) -> str:
    """The attribute that an ``add_argument`` call fills; empty when it is not known."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    flags = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    return long.lstrip("-").replace("-", "_")


_HANDLERS: dict[Any, Callable[[Flow, Any, Any, int], Role | None]] = {
    ast.IfExp: Flow._condition,
    ast.BoolOp: Flow._pass,
    ast.JoinedStr: Flow._pass,
    ast.FormattedValue: Flow._pass,
    ast.List: Flow._sequence,
    ast.Tuple: Flow._sequence,
    ast.Set: Flow._pass,
    ast.BinOp: Flow._operator,
    ast.Subscript: Flow._subscript,
    ast.Attribute: Flow._attribute,
    ast.keyword: Flow._keyword,
    ast.Call: Flow._call,
    ast.arguments: Flow._default,
    ast.Assign: Flow._assigned,
    ast.AnnAssign: Flow._assigned,
    ast.NamedExpr: Flow._assigned,
    ast.Return: Flow._returned,
    ast.Compare: Flow._compared,
    ast.Dict: Flow._entry,
    ast.For: Flow._looped,
    ast.comprehension: Flow._looped,
    getattr(ast, "MatchValue", None): Flow._case,
}
