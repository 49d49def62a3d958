"""TW102: ``.cuda()`` on tensors and modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, rename_attribute
from trainwright.migrate.python.kind_tables import DISTINCT_METHODS
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.own_cuda import defined, holds
from trainwright.migrate.python.style import ACCELERATOR_TYPE, torch_visible
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import FileHook, MethodHook, Rule

#: Called on what ``.cuda()`` gives back, these tell that it is a tensor or a module of torch.
_OF_TORCH = frozenset({"float", "half", "double", "bfloat16", "type_as"}).union(*DISTINCT_METHODS.values())
_CURRENT = "torch.cuda.current_device"
_HALVES = frozenset({"half", "bfloat16"})
_WAY = "call .npu(), or .to() with the device, where the receiver is a tensor or a module"


def _visit(node: ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    call = file.call_of(node)
    if call is None:
        return
    kind = file.kind(node.value)
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if kind in ("other", "device", "optimizer") or any(_is_text(file, argument) for argument in arguments):
        return
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super":
        if not _in_override(node, file):
            yield _left(node, file, "it calls the method of a base class")
        return
    if file.options.style == "shim":
        return
    owner = holds(file, node.value) if kind != "tensor" else None
    if owner is not None:
        why = f"the receiver may be a {owner.name}, which defines cuda() itself ({owner.file}:{owner.line})"
        yield _left(node, file, why, f"add npu() to {owner.name}, then call it here; or call .to() with the device")
        return
    edits = _edits(node, call, file)
    if not edits:
        yield _left(node, file, "the way this call passes its arguments cannot be rewritten")
        return
    known = kind in ("tensor", "module") or _is_used_as_torch(node, call, file)
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


def _is_used_as_torch(node: ast.Attribute, call: ast.Call, file: PythonFile) -> bool:
    """``x.cuda().float()``, ``x.cuda(torch.cuda.current_device())``, or ``x.half()`` elsewhere: x is of torch."""
    if any(isinstance(arg, ast.Call) and file.named(arg.func) == _CURRENT for arg in call.args):
        return True
    above = file.parent(call)
    if isinstance(above, ast.Attribute) and above.attr in _OF_TORCH and file.call_of(above) is not None:
        return True
    if not isinstance(node.value, ast.Name):
        return False
    found = file.index.scopes[node.value].lookup(node.value.id)
    uses = file.uses.get((found[0], node.value.id), []) if found else []
    others = (file.parent(use) for use in uses)
    return any(isinstance(other, ast.Attribute) and other.attr in _HALVES and file.call_of(other) for other in others)


def _in_override(node: ast.AST, file: PythonFile) -> bool:
    """Whether a node stands in a ``cuda()`` that the finding on its class speaks of."""
    at = file.parent(node)
    while at is not None and not isinstance(at, ast.FunctionDef):
        at = file.parent(at)
    owner = file.parent(at) if at is not None else None
    return isinstance(owner, ast.ClassDef) and defined(owner) is at


def _overrides(file: PythonFile) -> Iterator[Remark]:
    """Every class with a ``cuda()`` and no ``npu()``: whoever moves its objects to the NPU has nothing to call."""
    for node in file.index.classes:
        method = defined(node)
        if method is None or file.options.style == "shim":
            continue
        module = file.kinds.is_module_class(node)
        yield remark(
            file,
            method,
            number=RULE.number,
            title=f"{node.name} defines cuda() itself",
            detail="Without an npu() beside it, .npu() does what nn.Module does and passes this method by."
            if module
            else "Its objects have no npu().",
            advice=f"add a method npu() to {node.name} that does for the NPU what cuda() does",
            outcome="manual",
            minutes=10,
            name=node.name,
        )


def _left(node: ast.Attribute, file: PythonFile, why: str, advice: str = _WAY) -> Remark:
    return remark(
        file,
        node,
        number=RULE.number,
        title=".cuda() is left as it is",
        detail=f"Not rewritten: {why}.",
        advice=advice,
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
    hooks=(MethodHook(attributes=("cuda",), visit=_visit), FileHook(languages=("python",), visit=_overrides)),
)
