"""What the values of a Triton kernel are, as far as sizes go: whole numbers, tiles, pointers to blocks.

A tile is the shape of a tensor and the bytes of an element. An unknown size keeps the name it comes from, so that a
report can say which setting decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: One side of a tile: a number, or the text of what decides it.
Size = int | str
#: Bytes of an element whose type the kernel does not tell.
ASSUMED_BYTES = 4

#: Bytes per element of the types of ``triton.language``.
TYPE_BYTES = {
    "int1": 1,
    "int8": 1,
    "uint8": 1,
    "float8e4nv": 1,
    "float8e4b8": 1,
    "float8e4b15": 1,
    "float8e5": 1,
    "float8e5b16": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
}


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A tensor on the chip; `element_bytes` is None when the kernel does not tell its type."""

    shape: tuple[Size, ...]
    element_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Block:
    """A pointer or descriptor of a block in memory: loading it gives a tile of this shape."""

    shape: tuple[Size, ...]


@dataclass(frozen=True, kw_only=True)
class ElementType:
    """A data type, by its size."""

    size_bytes: int


Value = int | Tile | Block | ElementType | tuple[object, ...] | None


@dataclass(frozen=True, kw_only=True)
class Holding:
    """A tile the kernel holds: what made it (``load``), where, and which tile."""

    made_by: str
    line: int
    tile: Tile

    @property
    def size_bytes(self) -> int | None:
        """Bytes of the tile; None when a side is unknown."""
        sides = [side for side in self.tile.shape if isinstance(side, int)]
        if len(sides) < len(self.tile.shape):
            return None
        return math.prod(sides) * (self.tile.element_bytes or ASSUMED_BYTES)

    @property
    def unknown(self) -> tuple[str, ...]:
        """What decides the sides that are not known."""
        return tuple(side for side in self.tile.shape if isinstance(side, str))


def broadcast(*values: Value) -> Tile | None:
    """The tile that comes out of an operation on several values; None when none of them is a tile."""
    tiles = [value for value in values if isinstance(value, Tile)]
    if not tiles:
        return None
    rank = max(len(tile.shape) for tile in tiles)
    shape: list[Size] = [1] * rank
    for tile in tiles:
        for at, side in enumerate(tile.shape, rank - len(tile.shape)):
            if side != 1:
                shape[at] = side if shape[at] == 1 or isinstance(shape[at], str) else shape[at]
    sizes = [tile.element_bytes for tile in tiles]
    known = [size for size in sizes if size is not None]
    return Tile(shape=tuple(shape), element_bytes=max(known) if len(known) == len(sizes) else None)
