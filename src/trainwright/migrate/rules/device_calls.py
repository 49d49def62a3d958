"""TW102: ``.cuda()`` on tensors and modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, rename_attribute
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.style import ACCELERATOR_TYPE, torch_visible
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import MethodHook, Rule


def _visit(node: ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    call = file.call_of(node)
    if call is None:
        return
    kind = file.kind(node.value)
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if kind in ("other", "device", "optimizer") or any(_is_text(file, argument) for argument in arguments):
        return
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super":
        yield _left(node, file, "an override of cuda() calls the method it overrides")
        return
    if file.options.style == "shim":
        return
    if file.project.defines_cuda and kind != "tensor":
        yield _left(node, file, "a class of this project defines cuda() itself; rename both or neither")
        return
    edits = _edits(node, call, file)
    if not edits:
        yield _left(node, file, "the way this call passes its arguments cannot be rewritten")
        return
    known = kind in ("tensor", "module")
    yield remark(
        file,
        node,
        number=RULE.number,
        title=".cuda() moves to a CUDA device",
        detail="" if known else "It is not known here that the receiver is a tensor or a module.",
        safety="safe" if known else "unsafe",
        confidence="inferred" if known else "guessed",
        edits=edits,
        registers=True,
    )


def _edits(node: ast.Attribute, call: ast.Call, file: PythonFile) -> tuple[Edit, ...]:
    if file.options.style == "npu":
        return (rename_attribute(file, node, "npu"),)
    if call.args or call.keywords or not torch_visible(file, node):
        return ()
    name = rename_attribute(file, node, "to")
    _, end = file.span(call)
    return (Edit(start=name.start, end=end, new=f"to({ACCELERATOR_TYPE})"),)


def _is_text(file: PythonFile, expr: ast.expr) -> bool:
    return isinstance(file.constant(expr), str)


def _left(node: ast.Attribute, file: PythonFile, why: str) -> Remark:
    return remark(
        file,
        node,
        number=RULE.number,
        title=".cuda() is left as it is",
        detail=f"Not rewritten: {why}.",
        advice="call .npu(), or .to() with the device, where the receiver is a tensor or a module",
        outcome="manual",
        confidence="guessed",
        minutes=5,
    )


RULE = Rule(
    code="device-calls",
    number="TW102",
    summary="A call of .cuda() moves a tensor or a module to a CUDA device.",
    why="torch on an Ascend machine is not compiled with CUDA; tensors and modules have .npu() there.",
    before="model.cuda()",
    after="model.npu()",
    safety="safe",
    hooks=(MethodHook(attributes=("cuda",), visit=_visit),),
)
