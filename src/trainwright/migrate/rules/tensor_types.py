"""TW104: names of CUDA tensor types, as classes and as strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainwright.knowledge.surface import npu_name_exists
from trainwright.migrate.python.edits import carrier, remark, rename_attribute, word_edit
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.python.usage import is_use
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule, StringHook

_TYPE = re.compile(r"torch\.cuda\.(\w+(?:Tensor|Storage))")
_DOUBLE = "Most operators of the NPU do not compute in float64: use float32 where the model allows it."
_EVIDENCE = "public names of torch_npu.npu, torch_npu 2.8"


def _class(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    """``torch.cuda.FloatTensor``; what an import or an alias elsewhere spells comes with that."""
    match, spelled = _TYPE.match(ref.name), carrier(file, ref.node, "torch.cuda")
    if match is None:
        return
    kind = match.group(1)
    if not npu_name_exists(f"torch.npu.{kind}"):
        yield _missing(ref, kind, file)
    elif file.options.style != "npu":
        yield _left(ref.node, kind, file)
    elif isinstance(spelled, ast.Attribute):
        yield remark(
            file, ref.node, number=RULE.number, title=f"tensor type torch.cuda.{kind}", name=f"torch.cuda.{kind}",
            detail=_DOUBLE if kind.startswith("Double") else "", safety="safe", confidence=ref.confidence,
            edits=(rename_attribute(file, spelled, "npu"),), registers=True, evidence=_EVIDENCE,
        )  # fmt: skip


def _missing(ref: NameRef, kind: str, file: PythonFile) -> Remark:
    return remark(
        file, ref.node, number=RULE.number, title=f"torch.cuda.{kind} has no counterpart in torch.npu",
        name=f"torch.cuda.{kind}", advice="make the tensor with dtype= and device= instead", minutes=10,
        outcome="blocked" if is_use(ref, file) else "manual", confidence=ref.confidence, evidence=_EVIDENCE,
    )  # fmt: skip


def _string(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    """``x.type("torch.cuda.FloatTensor")``, ``x.type() == "torch.cuda.HalfTensor"``."""
    match = _TYPE.fullmatch(ref.value)
    if match is None or not npu_name_exists(f"torch.npu.{match.group(1)}"):
        return
    kind, role = match.group(1), ref.role
    edit = word_edit(file, ref.node, ref.value, ref.value.replace(".cuda.", ".npu."))
    if file.options.style != "npu" or role is None or role.kind != "tensor_type" or edit is None:
        yield _left(ref.node, kind, file)
        return
    yield remark(
        file, ref.node, number=RULE.number, title=f'tensor type "{ref.value}"', name=ref.value,
        detail=_DOUBLE if kind.startswith("Double") else "", safety="safe", registers=True,
        # The receiver of .type() may be unknown, but nothing else than torch takes such a name.
        confidence="inferred" if role.confidence == "guessed" else role.confidence,
        edits=(edit,), evidence=_EVIDENCE,
    )  # fmt: skip


def _left(node: ast.AST, kind: str, file: PythonFile) -> Remark:
    shim, is_text = file.options.style == "shim", not isinstance(node, ast.Attribute)
    detail = ""
    if shim and kind == "DoubleTensor":
        detail = "transfer_to_npu makes it a FloatTensor: the values lose precision, without a word."
    elif is_text:
        detail = "It is not known here what the name is compared with or given to."
    return remark(
        file, node, number=RULE.number, title=f"tensor type torch.cuda.{kind}", name=f"torch.cuda.{kind}",
        detail=detail, outcome="note" if shim and not is_text else "manual",
        advice="ask for x.dtype and x.device.type instead of the name of a type" if is_text
        else "" if shim else "make the tensor with dtype= and device= instead",
        minutes=0 if shim and not is_text else 3,
    )  # fmt: skip


RULE = Rule(
    code="tensor-types",
    number="TW104",
    summary="A type of CUDA tensors is named.",
    why="torch.cuda.FloatTensor cannot be made without CUDA, and on an NPU x.type() says torch.npu.FloatTensor: a "
    "comparison with the old name is silently false. The types of float64 exist, but few operators take them.",
    before='if x.type() == "torch.cuda.HalfTensor": y = torch.cuda.FloatTensor(8)',
    after='if x.type() == "torch.npu.HalfTensor": y = torch.npu.FloatTensor(8)',
    safety="safe",
    hooks=(NameHook(names=("torch.cuda.*",), visit=_class), StringHook(words=("cuda",), visit=_string)),
)
