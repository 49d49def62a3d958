"""Triton kernels, each with an estimate of what a block holds and of the grid it is started with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.native.triton_estimate import (
    BUFFER_BYTES,
    MAX_BLOCKS,
    BlockEstimate,
    GridEstimate,
    block_estimate,
    grid_estimates,
)
from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

_BITS = 8
_SHOWN = 3
_EVIDENCE = "triton-ascend architecture_difference.md; sglang #25330"


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if isinstance(ref.node, ast.alias):
        return
    kernel = _decorated(file, ref)
    if kernel is None:
        return
    block, grids = block_estimate(file, kernel), grid_estimates(file, kernel)
    inner = not grids and any(isinstance(part, ast.Return) and part.value for part in ast.walk(kernel))
    over = block.overflows or any(grid.overflows for grid in grids)
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title=f"Triton {'function' if inner else 'kernel'} {kernel.name} has to be ported",
        detail=" ".join(filter(None, [_INNER if inner else "", _block(block), *_grids(grids)])),
        advice=_OVER if over else _PORT,
        outcome="manual",
        confidence=ref.confidence,
        minutes=15 if inner else 240 if over else 90,
        evidence=_EVIDENCE,
        name=kernel.name,
    )


_INNER = "It is called by other kernels."
_PORT = (
    "Port it with triton-ascend 3.2.x: prefer a one-dimensional grid near the number of cores, tune the block sizes "
    "again, and check the result against a PyTorch version."
)
_OVER = (
    "Make it fit, then port it with triton-ascend 3.2.x: smaller blocks with a loop inside the kernel for the buffer; "
    "fewer blocks with more work each for the grid, unless auto-blockify of triton-ascend folds the grid."
)


def _decorated(file: PythonFile, ref: NameRef) -> ast.FunctionDef | None:
    """The function that is compiled: decorated, or given to a call of ``triton.jit``."""
    above = file.parent(ref.node)
    if isinstance(above, ast.Call):
        given = above.args[0] if above.args and above.func is ref.node else None
        if isinstance(given, ast.Name):
            same = [node for node in file.tree.body if isinstance(node, ast.FunctionDef) and node.name == given.id]
            return same[0] if same else None
        above = file.parent(above)
    if isinstance(above, ast.FunctionDef) and any(_holds(item, ref.node) for item in above.decorator_list):
        return above
    return None


def _holds(decorator: ast.expr, node: ast.AST) -> bool:
    return decorator is node or (isinstance(decorator, ast.Call) and decorator.func is node)


def _block(block: BlockEstimate) -> str:
    """What a block holds, in bytes and in the bits the compiler speaks of."""
    unknown = f"depends on {_listed(block.unknown)}, not known here." if block.unknown else ""
    if not block.tiles:
        return f"What a block holds {unknown}" if unknown else ""
    setting = ", ".join(f"{name}={value}" for name, value in sorted(block.setting.items()))
    counted = f"{block.tiles} tile{'s' if block.tiles > 1 else ''}{f' with {setting}' if setting else ''}"
    verdict = "more than" if block.overflows else "of"
    parts = [
        f"A block holds about {_size(block.size_bytes)} in {counted}, {verdict} the {_size(BUFFER_BYTES)} of the "
        "unified buffer; masks, values in between and double buffering come on top.",
        "Elements of unknown type count 4 bytes." if block.assumed else "",
        f"The rest {unknown}" if unknown else "",
    ]
    return " ".join(filter(None, parts))


def _size(size_bytes: int) -> str:
    return f"{size_bytes:,} bytes ({size_bytes * _BITS:,} bits)"


def _grids(grids: list[GridEstimate]) -> Iterator[str]:
    for grid in grids[:_SHOWN]:
        if grid.blocks is None:
            yield f"Check that the grid of line {grid.line}, {grid.text}, stays within {MAX_BLOCKS:,} blocks."
        elif grid.overflows:
            yield f"The grid of line {grid.line}, {grid.text}, has over {MAX_BLOCKS:,} blocks: {grid.blocks:,} or more."
        else:
            yield f"The grid of line {grid.line}, {grid.text}, has {grid.blocks:,} of at most {MAX_BLOCKS:,} blocks."
    if len(grids) > _SHOWN:
        yield f"{len(grids) - _SHOWN} more launches in this file."


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


RULE = Rule(
    code="triton-kernels",
    number="TW603",
    summary="A Triton kernel, with the bytes a block holds and the blocks of its grid.",
    why=(
        "triton-ascend compiles Triton for the NPU, but a block has to fit into a unified buffer of 192 KiB and a "
        "launch has at most 65,535 blocks; kernels tuned for a GPU often break either."
    ),
    before="@triton.jit\ndef add(x, y, out, n, BLOCK: tl.constexpr): ...",
    hooks=(NameHook(names=("triton.jit", "triton.runtime.jit.jit", "triton.runtime.jit"), visit=_visit),),
)
