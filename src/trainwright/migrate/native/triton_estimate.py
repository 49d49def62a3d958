"""How many bytes a block of a Triton kernel holds, and how many blocks a launch starts.

The estimate counts each loaded tile, each tile made by ``tl.zeros`` and the like, and each product once, as if all were
held at the same time, with the largest configuration found. Masks and results in between come on top, double buffering
doubles what is loaded; what the compiler can release early is counted all the same. It says where to look first, not
what the compiler will say.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from trainwright.migrate.native.triton_kernel import Walk
from trainwright.migrate.native.triton_settings import Launch, Setting, launches_of, settings_of
from trainwright.migrate.native.triton_values import Holding
from trainwright.migrate.python.module import PythonFile

#: The unified buffer of a vector core of an Atlas A2, and the most blocks of a launch.
BUFFER_BYTES = 196_608
MAX_BLOCKS = 65_535


@dataclass(frozen=True, kw_only=True)
class BlockEstimate:
    """The largest configuration of a kernel.

    `size_bytes` counts the tiles whose sizes are known; `unknown` are the settings that decide the others; `assumed`
    tells that some element type was not known and 4 bytes were taken.
    """

    size_bytes: int
    tiles: int
    unknown: tuple[str, ...]
    assumed: bool
    setting: Setting

    @property
    def overflows(self) -> bool:
        """Whether the known tiles alone are more than the buffer."""
        return self.size_bytes > BUFFER_BYTES


@dataclass(frozen=True, kw_only=True)
class GridEstimate:
    """The grid of one launch: its text, and the number of blocks when it is known."""

    text: str
    line: int
    blocks: int | None

    @property
    def overflows(self) -> bool:
        """Whether the launch starts more blocks than one launch can."""
        return self.blocks is not None and self.blocks > MAX_BLOCKS


def block_estimate(file: PythonFile, kernel: ast.FunctionDef) -> BlockEstimate:
    """The bytes a block of a kernel holds in the worst configuration that is written down."""
    found = [_with(file, kernel, setting) for setting in settings_of(file, kernel)]
    return max(found, key=lambda estimate: estimate.size_bytes)


def _with(file: PythonFile, kernel: ast.FunctionDef, setting: Setting) -> BlockEstimate:
    walk = Walk(file.named, file.constant, setting)
    walk.run(kernel.body)
    known = [holding for holding in walk.holdings if holding.size_bytes is not None]
    used = {name: value for name, value in setting.items() if name in _names(kernel)}
    return BlockEstimate(
        size_bytes=sum(holding.size_bytes or 0 for holding in known),
        tiles=len(known),
        unknown=tuple(dict.fromkeys(name for holding in walk.holdings for name in holding.unknown)),
        assumed=any(_is_assumed(holding) for holding in known),
        setting=used,
    )


def _is_assumed(holding: Holding) -> bool:
    return holding.tile.element_bytes is None


def _names(kernel: ast.FunctionDef) -> set[str]:
    """Parameters that a shape can depend on: those declared ``tl.constexpr``."""
    arguments = (*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs)
    return {
        item.arg for item in arguments if item.annotation is not None and "constexpr" in ast.unparse(item.annotation)
    }


def grid_estimates(file: PythonFile, kernel: ast.FunctionDef) -> list[GridEstimate]:
    """The grid of every launch in the file of the kernel."""
    return [_grid(file, launch) for launch in launches_of(file, kernel)]


def _grid(file: PythonFile, launch: Launch) -> GridEstimate:
    node = _followed(file, launch.grid)
    body = node.body if isinstance(node, ast.Lambda) else node
    axes = body.elts if isinstance(body, ast.Tuple | ast.List) else [body]
    walk = Walk(file.named, file.constant, launch.values)
    sizes = [size for axis in axes if isinstance(size := walk.value(axis), int)]
    return GridEstimate(
        text=" ".join(ast.unparse(body).split()),
        line=launch.call.lineno,
        blocks=math.prod(sizes) if len(sizes) == len(axes) else _one_axis(sizes),
    )


def _one_axis(sizes: list[int]) -> int | None:
    """The known axes alone, when they are too many already."""
    blocks = math.prod(sizes)
    return blocks if blocks > MAX_BLOCKS else None


def _followed(file: PythonFile, node: ast.expr) -> ast.expr:
    """A name followed to the one expression it is bound to."""
    for _ in range(4):
        if not isinstance(node, ast.Name):
            break
        bindings = file.bindings(node)
        found = _returned(bindings[0].node) or bindings[0].value if len(bindings) == 1 else None
        if found is None:
            break
        node = found
    return node


def _returned(node: ast.AST) -> ast.expr | None:
    """What a function of a single ``return`` returns."""
    returns = [part for part in ast.walk(node) if isinstance(part, ast.Return)] if _is_function(node) else []
    return returns[0].value if len(returns) == 1 else None


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef)
