"""TW202: double precision that is made on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.flow import Flow
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.placed import device_of, is_elsewhere
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import MethodHook, NameHook, Rule

_EVIDENCE = "diffusers #10428 and PR #10123: an aclnn kernel is not implemented for DT_DOUBLE"
_ADVICE = "use float32 on the NPU, or compute this part on the CPU"


def _named(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    above = file.parent(ref.node)
    if isinstance(above, ast.keyword) and above.arg == "dtype":
        call = file.parent(above)
        if isinstance(call, ast.Call) and _on_device(call, file):
            yield _found(ref.node, file, "a float64 tensor is made on the device")
    elif isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.func.attr == "to":
        if _is_on_device(above.func.value, file):
            yield _found(ref.node, file, "a tensor on the device becomes float64")
    elif file.named(above.func if isinstance(above, ast.Call) else None) == "torch.set_default_dtype":
        yield _found(ref.node, file, "float64 is the default type of every tensor")


def _double(node: ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    call = file.call_of(node)
    if call is not None and not call.args and _is_on_device(node.value, file):
        yield _found(node, file, "a tensor on the device becomes float64")


def _on_device(call: ast.Call, file: PythonFile) -> bool:
    device = device_of(call)
    return device is not None and not is_elsewhere(device, file)


def _is_on_device(expr: ast.expr, file: PythonFile) -> bool:
    """A value that the same expression moved to the device: ``x.cuda().double()``."""
    if not isinstance(expr, ast.Call) or not isinstance(expr.func, ast.Attribute):
        return False
    if expr.func.attr in ("cuda", "npu"):
        return file.kind(expr.func.value) in ("tensor", "module", None)
    if expr.func.attr == "to" and expr.args:
        value = file.constant(expr.args[0])
        return isinstance(value, str) and value.startswith(("cuda", "npu"))
    role = Flow(file).direct(expr)
    return role is not None and role.kind == "device"


def _found(node: ast.AST, file: PythonFile, title: str) -> Remark:
    return remark(
        file,
        node,
        number=RULE.number,
        title=title,
        detail="Many NPU kernels have no float64 form and raise an error.",
        advice=_ADVICE,
        outcome="manual",
        confidence="inferred",
        minutes=10,
        evidence=_EVIDENCE,
    )


RULE = Rule(
    code="float64",
    number="TW202",
    summary="Double precision reaches the device.",
    why="Many NPU kernels have no float64 form: the operator raises an error, or falls back to the CPU.",
    before="torch.zeros(8, dtype=torch.float64, device=device)",
    after="torch.zeros(8, dtype=torch.float32, device=device)",
    hooks=(
        NameHook(names=("torch.float64", "torch.double"), visit=_named),
        MethodHook(attributes=("double",), visit=_double),
    ),
)
