"""TW105: guards that ask whether a tensor is on CUDA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, rename_attribute
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import MethodHook, Rule


def _visit(node: ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    if not isinstance(node.ctx, ast.Load) or file.kind(node.value) in ("other", "self", "optimizer"):
        return
    alike = [other for other in file.attribute_reads["is_cuda"] if file.statement(other) is file.statement(node)]
    if alike[0] is not node:
        return  # its statement is spoken of
    style = file.options.style
    if style == "shim":
        yield remark(file, node, number=RULE.number, title="is_cuda", outcome="note")
        return
    use = _use(node, file)
    if use == "fallback":
        yield remark(
            file,
            node,
            number=RULE.number,
            title="the branch for CUDA is not taken on the NPU",
            detail="is_cuda is False for an NPU tensor, so the other branch runs, which needs no CUDA.",
            advice="leave it, unless the other branch is meant for the CPU alone and is slow",
            outcome="note",
        )
    elif use == "check" and style == "npu":
        yield remark(
            file,
            node,
            number=RULE.number,
            title="a check that fails for every NPU tensor",
            detail="is_cuda is False for an NPU tensor. What the check protects may need CUDA all the same.",
            safety="unsafe",
            edits=tuple(rename_attribute(file, other, "is_npu") for other in alike if _use(other, file) == "check"),
            registers=True,
        )
    else:
        yield remark(
            file,
            node,
            number=RULE.number,
            title="is_cuda is False for an NPU tensor",
            advice="ask for is_npu, or for x.device.type, where the NPU is meant too",
            outcome="manual",
            minutes=5,
        )


def _use(node: ast.Attribute, file: PythonFile) -> str:
    """``fallback``: another branch follows; ``check``: anything but CUDA is an error; else empty."""
    at: ast.AST = node
    negated = False
    above = file.parent(at)
    while isinstance(above, ast.BoolOp | ast.UnaryOp | ast.Compare | ast.Call):
        if isinstance(above, ast.UnaryOp):
            negated = not negated
        at, above = above, file.parent(above)
    if isinstance(above, ast.Assert):
        return "check"
    if isinstance(above, ast.IfExp) and at is above.test:
        return "" if negated else "fallback"
    if not isinstance(above, ast.If) or at is not above.test:
        return ""
    if negated and any(isinstance(child, ast.Raise) for child in above.body):
        return "check"
    if _ends_in_error(above.orelse):
        return "check" if not negated else ""
    if above.orelse:
        return "fallback"
    leaves = bool(above.body) and isinstance(above.body[-1], ast.Return | ast.Continue)
    return "fallback" if leaves and not negated and _goes_on(above, file) else ""


def _ends_in_error(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise | ast.Assert)


def _goes_on(node: ast.If, file: PythonFile) -> bool:
    """Whether something other than an error follows the statement in its block."""
    above = file.parent(node)
    block = next((part for part in _blocks(above) if node in part), [])
    rest = block[block.index(node) + 1 :] if node in block else []
    return bool(rest) and not isinstance(rest[0], ast.Raise)


def _blocks(node: ast.AST | None) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        part = getattr(node, name, None)
        if isinstance(part, list):
            yield part


RULE = Rule(
    code="is-cuda",
    number="TW105",
    summary="A guard asks whether a tensor is on CUDA.",
    why="is_cuda is False for a tensor on the NPU. A branch with a fallback then takes the fallback, which is right; a "
    "check that insists on CUDA fails.",
    before='assert x.is_cuda, "needs a device"',
    after='assert x.is_npu, "needs a device"',
    safety="unsafe",
    hooks=(MethodHook(attributes=("is_cuda",), visit=_visit),),
)
