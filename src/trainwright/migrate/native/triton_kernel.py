"""Go through the body of one Triton kernel once and note every tile it holds.

Loops are gone through once, both sides of an ``if`` are gone through unless its test is known. Nothing is executed;
what is not understood is an unknown value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from trainwright.migrate.native.triton_calls import called
from trainwright.migrate.native.triton_values import (
    TYPE_BYTES,
    Block,
    ElementType,
    Holding,
    Size,
    Tile,
    Value,
    broadcast,
)

#: The dotted name an expression stands for, or an empty string.
NameOf = Callable[[ast.expr], str]
#: The constant an expression is known to be, or None.
ConstantOf = Callable[[ast.expr], object]
LANGUAGE = "triton.language."
#: The name everybody imports ``triton.language`` as; a project that hands it on from a module of its own keeps it.
_USUAL = "tl"
_NUMBERS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right if right else 0,
    ast.Mod: lambda left, right: left % right if right else 0,
    ast.Pow: lambda left, right: left**right if 0 <= right < 64 and abs(left) < 1 << 16 else 0,
    ast.LShift: lambda left, right: left << right if 0 <= right < 64 else 0,
    ast.RShift: lambda left, right: left >> right if 0 <= right < 64 else 0,
}


class Walk:
    """One pass over a kernel with given values for its parameters.

    Args:
        name_of, constant_of: what names outside the kernel stand for.
        values: parameter -> whole number, from a configuration, a call or a default.
    """

    def __init__(self, name_of: NameOf, constant_of: ConstantOf, values: Mapping[str, int]) -> None:
        self._name_of = name_of
        self._constant_of = constant_of
        self.values: dict[str, Value] = dict(values)
        self.holdings: list[Holding] = []
        self._adds_up = False  # the value is added to a tile that is counted already

    def run(self, body: list[ast.stmt]) -> None:
        """Go through statements in order."""
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self.value(value)
                for target in targets:
                    self._bind(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self.value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                self._adds_up = True
                right = self.value(value)
                self._adds_up = False
                left = self.value(_read(target))
                self._bind(target, _computed(op, left, right))
            case ast.Expr(value=value):
                self.value(value)
            case ast.Return(value=ast.expr() as value):
                self.value(value)
            case ast.If():
                self._branch(node)
            case ast.For(target=target, iter=steps, body=body):
                self._loop(target, steps, body)
            case ast.While(body=body) | ast.With(body=body):
                self.run(body)

    def _branch(self, node: ast.If) -> None:
        test = self.value(node.test)
        if test is None or not isinstance(test, int):
            before = dict(self.values)
            self.run(node.body)
            taken, self.values = self.values, before
            self.run(node.orelse)
            self.values = taken | {name: value for name, value in self.values.items() if value is not None}
        else:
            self.run(node.body if test else node.orelse)

    def _loop(self, target: ast.expr, steps: ast.expr, body: list[ast.stmt]) -> None:
        if isinstance(steps, ast.Call):
            for argument in steps.args:
                self.value(argument)
        self._bind(target, None)
        self.run(body)

    def _bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.values[target.id] = value
        elif isinstance(target, ast.Tuple):
            parts = value if isinstance(value, tuple) and len(value) == len(target.elts) else [None] * len(target.elts)
            for inner, part in zip(target.elts, parts, strict=True):
                self._bind(inner, part)  # type: ignore[arg-type]

    def value(self, node: ast.expr) -> Value:
        """What an expression is."""
        match node:
            case ast.Constant(value=bool() | int() as number):
                return int(number)
            case ast.Name(id=name):
                return self.values[name] if name in self.values else self._named(node)
            case ast.BinOp(left=left, op=op, right=right):
                return _computed(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return _negated(op, self.value(operand))
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp(values=values):
                found = [self.value(value) for value in values]
                return broadcast(*found)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.value(test)
                chosen, other = self.value(body), self.value(orelse)
                return chosen if chosen is not None else other
            case ast.Subscript(value=base, slice=index):
                return _indexed(self.value(base), index)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return tuple(self.value(item) for item in elts)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return called(self, node)
        return None

    def _named(self, node: ast.expr) -> Value:
        name = self._name_of(node)
        size = TYPE_BYTES.get(name.removeprefix(LANGUAGE)) if name.startswith(LANGUAGE) else None
        if size:
            return ElementType(size_bytes=size)
        constant = self._constant_of(node)
        return constant if isinstance(constant, int) else None

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr == "T":
            base = self.value(node.value)
            return Tile(shape=base.shape[::-1], element_bytes=base.element_bytes) if isinstance(base, Tile) else None
        return self._named(node)

    def _comparison(self, node: ast.Compare) -> Value:
        sides = [self.value(side) for side in (node.left, *node.comparators)]
        numbers = [side for side in sides if isinstance(side, int)]
        if len(numbers) == len(sides) == 2:
            return _compared(node.ops[0], *numbers)
        tile = broadcast(*sides)
        return Tile(shape=tile.shape, element_bytes=1) if tile else None

    def function_of(self, call: ast.Call) -> tuple[str, Value]:
        """Name of the function of a call below ``triton.language`` or as a method, and the value it is called on."""
        name = self._name_of(call.func)
        if name.startswith(LANGUAGE):
            return name.removeprefix(LANGUAGE), None
        if name and not name.endswith(f".{_USUAL}.{name.rpartition('.')[2]}"):
            return name, None
        if isinstance(call.func, ast.Attribute):
            known = isinstance(call.func.value, ast.Name) and call.func.value.id == _USUAL
            return call.func.attr, None if known else self.value(call.func.value)
        return "", None

    def shape(self, node: ast.expr | None) -> tuple[Size, ...] | None:
        """A shape as it is written: ``(BLOCK_M, 64)``; sides that are not known keep their text."""
        if node is None:
            return None
        sides = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        return tuple(self.size(side) for side in sides)

    def size(self, node: ast.expr) -> Size:
        """A whole number, or the text of what decides it."""
        value = self.value(node)
        return value if isinstance(value, int) else ast.unparse(node)

    def hold(self, made_by: str, node: ast.expr, tile: Tile) -> Tile:
        """Note a tile, unless it is added to one that is noted already."""
        if not self._adds_up or made_by == "load":
            self.holdings.append(Holding(made_by=made_by, line=node.lineno, tile=tile))
        return tile


def _read(target: ast.expr) -> ast.expr:
    return ast.Name(id=target.id, ctx=ast.Load()) if isinstance(target, ast.Name) else ast.Constant(value=None)


def _computed(op: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        return _NUMBERS[type(op)](left, right) if type(op) in _NUMBERS else None
    if isinstance(left, Block):
        return left
    return broadcast(left, right)


def _negated(op: ast.unaryop, value: Value) -> Value:
    if not isinstance(value, int):
        return value
    if isinstance(op, ast.Not):
        return int(not value)
    return -value if isinstance(op, ast.USub) else value


def _compared(op: ast.cmpop, left: int, right: int) -> int | None:
    match op:
        case ast.Eq() | ast.Is():
            return int(left == right)
        case ast.NotEq() | ast.IsNot():
            return int(left != right)
        case ast.Lt():
            return int(left < right)
        case ast.LtE():
            return int(left <= right)
        case ast.Gt():
            return int(left > right)
        case ast.GtE():
            return int(left >= right)
    return None


def _indexed(base: Value, index: ast.expr) -> Value:
    """``x[:, None]``: a side of one for every None."""
    if not isinstance(base, Tile):
        return None
    sides, shape = list(base.shape), list[Size]()
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(part, ast.Constant) and part.value is None:
            shape.append(1)
        elif isinstance(part, ast.Slice) and sides:
            shape.append(sides.pop(0))
        else:
            return None
    return Tile(shape=(*shape, *sides), element_bytes=base.element_bytes)
