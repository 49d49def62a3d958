"""What the functions of ``triton.language`` give, as far as sizes go."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from trainwright.migrate.native.triton_values import Block, ElementType, Size, Tile, Value, broadcast

if TYPE_CHECKING:
    from trainwright.migrate.native.triton_kernel import Walk

#: What makes a block, and where the shape of the block stands among its arguments.
_BLOCK_MAKERS = {"make_block_ptr": 4, "make_tensor_descriptor": 3, "_experimental_make_tensor_descriptor": 3}
_FILLED = frozenset(("zeros", "full", "empty"))
_LIKE = frozenset(("zeros_like", "full_like", "empty_like"))
_REDUCTIONS = frozenset(("sum", "max", "min", "argmax", "argmin", "reduce", "xor_sum"))
_RESHAPES = frozenset(("reshape", "view", "broadcast_to"))
_SILENT = frozenset(
    ("store", "static_assert", "static_print", "device_print", "device_assert", "debug_barrier", "assume")
)
_FLIPPED = 2


def called(walk: Walk, call: ast.Call) -> Value:
    """The value of a call; every argument is looked at, so that loads inside it count."""
    name, receiver = walk.function_of(call)
    positional = [walk.value(argument) for argument in call.args]
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    named = {key: walk.value(node) for key, node in given.items()}
    subject = receiver if receiver is not None else (positional[0] if positional else None)
    rest = call.args if receiver is not None else call.args[1:]
    if name in _SILENT:
        return None
    if name in _LIKE and isinstance(subject, Tile):
        return walk.hold(name, call, subject)
    made = _made(walk, call, name, given, named)
    if made is not None:
        return made
    if name in ("load", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg"):
        return _loaded(walk, call, subject, [*positional, *named.values()], held=name == "load")
    if name in ("dot", "dot_scaled"):
        return _product(walk, call, positional, named)
    if name in _REDUCTIONS:
        return _reduced(subject, named.get("axis", walk.value(rest[0]) if rest else None))
    if name in ("trans", "permute") and isinstance(subject, Tile):
        return Tile(shape=subject.shape[::-1], element_bytes=subject.element_bytes)
    if name in _RESHAPES and isinstance(subject, Tile):
        shape = walk.shape(given.get("shape") or (rest[0] if len(rest) == 1 else ast.Tuple(elts=list(rest))))
        return Tile(shape=shape, element_bytes=subject.element_bytes) if shape else None
    if name == "expand_dims" and isinstance(subject, Tile):
        return _expanded(subject, named.get("axis", walk.value(rest[0]) if rest else None))
    if name in ("to", "cast"):
        return _cast(subject, [*positional, *named.values()])
    if name == "advance":
        return subject
    return _number(name, positional) or broadcast(subject, *positional, *named.values())


def _made(
    walk: Walk, call: ast.Call, name: str, given: dict[str, ast.expr], named: dict[str, Value]
) -> Tile | Block | None:
    """Tiles and blocks that a call makes from sizes."""
    if name == "arange" and len(call.args) >= _FLIPPED:
        first, last = walk.size(call.args[0]), walk.size(call.args[1])
        side: Size = last - first if isinstance(first, int) and isinstance(last, int) else last
        return Tile(shape=(side,), element_bytes=4)
    if name in _BLOCK_MAKERS:
        place = _BLOCK_MAKERS[name]
        at = given.get("block_shape") or (call.args[place] if len(call.args) > place else None)
        shape = walk.shape(at)
        return Block(shape=shape) if shape else None
    if name in _FILLED:
        shape = walk.shape(given.get("shape") or (call.args[0] if call.args else None))
        types = [
            value for value in (*named.values(), *map(walk.value, call.args[1:])) if isinstance(value, ElementType)
        ]
        tile = Tile(shape=shape or (), element_bytes=types[0].size_bytes if types else None)
        return walk.hold(name, call, tile) if shape else None
    return None


def _loaded(walk: Walk, call: ast.Call, subject: Value, others: list[Value], *, held: bool) -> Tile | None:
    if isinstance(subject, Block):
        tile: Tile | None = Tile(shape=subject.shape)
    else:
        found = broadcast(subject, *others)
        tile = Tile(shape=found.shape) if found else None
    return walk.hold("load", call, tile) if tile and held else tile


def _product(walk: Walk, call: ast.Call, positional: list[Value], named: dict[str, Value]) -> Tile | None:
    left, right = (*positional, None, None)[:2]
    if not isinstance(left, Tile) or not isinstance(right, Tile) or min(len(left.shape), len(right.shape)) < _FLIPPED:
        return None
    tile = Tile(shape=(*left.shape[:-1], right.shape[-1]), element_bytes=4)
    adds = len(positional) > _FLIPPED and isinstance(positional[2], Tile)
    return tile if adds or "acc" in named else walk.hold("dot", call, tile)


def _reduced(subject: Value, axis: Value) -> Tile | None:
    if (
        not isinstance(subject, Tile)
        or not isinstance(axis, int)
        or not -len(subject.shape) <= axis < len(subject.shape)
    ):
        return None
    sides = list(subject.shape)
    del sides[axis]
    return Tile(shape=tuple(sides), element_bytes=subject.element_bytes) if sides else None


def _expanded(subject: Tile, axis: Value) -> Tile | None:
    if not isinstance(axis, int):
        return None
    sides = list(subject.shape)
    sides.insert(axis if axis >= 0 else len(sides) + 1 + axis, 1)
    return Tile(shape=tuple(sides), element_bytes=subject.element_bytes)


def _cast(subject: Value, types: list[Value]) -> Value:
    if not isinstance(subject, Tile):
        return subject
    size = next((value.size_bytes for value in types if isinstance(value, ElementType)), None)
    return Tile(shape=subject.shape, element_bytes=size)


def _number(name: str, values: list[Value]) -> int | None:
    """Arithmetic on whole numbers."""
    numbers = [value for value in values if isinstance(value, int)]
    last = name.rpartition(".")[2]
    if not numbers or len(numbers) < len(values):
        return None
    if last == "cdiv" and len(numbers) == _FLIPPED and numbers[1]:
        return -(-numbers[0] // numbers[1])
    if last == "next_power_of_2":
        return 1 << (numbers[0] - 1).bit_length() if numbers[0] > 0 else 1
    if last in ("constexpr", "int"):
        return numbers[0]
    if last in ("minimum", "min"):
        return min(numbers)
    return max(numbers) if last in ("maximum", "max") else None
