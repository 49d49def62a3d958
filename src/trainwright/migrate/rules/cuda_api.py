"""TW103: functions and classes of torch.cuda."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.knowledge.surface import npu_name_exists
from trainwright.migrate.python.edits import carrier, remark, rename_attribute, replace
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.style import agnostic_name, torch_visible
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import NameHook, Rule

#: First parts below torch.cuda that need more than another module name; they are not this rule's.
_ELSEWHERE = frozenset(
    {"amp", "nvtx", "get_device_properties", "get_device_capability", "CUDAGraph", "graph", "graphs"}
    | {"make_graphed_callables", "graph_pool_handle"}
)


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    below = ref.name.removeprefix("torch.cuda").lstrip(".").partition(".")[0]
    if below in _ELSEWHERE or below.endswith(("Tensor", "Storage")) or file.options.style == "shim":
        return
    if below and not npu_name_exists(f"torch.npu.{below}"):
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=f"torch.cuda.{below} has no counterpart in torch.npu",
            name=f"torch.cuda.{below}",
            advice="remove the call, or guard it so that it runs on CUDA only",
            outcome="blocked",
            confidence=ref.confidence,
            minutes=30,
            evidence="public names of torch_npu.npu, torch_npu 2.8",
        )
        return
    edit = _edit(ref, below, file)
    if edit is not None:
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=f"torch.cuda.{below}" if below else "torch.cuda",
            name=f"torch.cuda.{below}".rstrip("."),
            safety="safe",
            confidence=ref.confidence,
            edits=(edit,),
            registers=True,
        )


def _edit(ref: NameRef, below: str, file: PythonFile) -> Edit | None:
    """The edit of the part that spells ``torch.cuda``; None where an import or an alias elsewhere spells it."""
    spelled = carrier(file, ref.node, "torch.cuda")
    if file.options.style == "agnostic":
        name = agnostic_name(file, below)
        whole = isinstance(spelled, ast.Attribute) and torch_visible(file, ref.node)
        return replace(file, ref.node, name) if name and whole and ref.name == f"torch.cuda.{below}" else None
    if isinstance(spelled, ast.Attribute):
        return rename_attribute(file, spelled, "npu")
    if isinstance(spelled, ast.Constant) and spelled.value in ("cuda", "torch.cuda"):
        return replace(file, spelled, f'"{spelled.value.replace("cuda", "npu")}"')
    return None


def _private(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    last = ref.name.removeprefix("torch._C.").partition(".")[0]
    if last.startswith(("_cuda_", "_CUDA", "_cudart", "_nvtx")):
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=f"torch._C.{last} is a part of torch built with CUDA",
            name=f"torch._C.{last}",
            detail="A torch without CUDA does not have it: the access raises AttributeError.",
            advice="use the public function of torch.npu that does the same, or guard it so that it runs on CUDA only",
            outcome="manual",
            confidence=ref.confidence,
            minutes=20,
        )


RULE = Rule(
    code="cuda-api",
    number="TW103",
    summary="A function or class of torch.cuda is used.",
    why="torch on an Ascend machine has no CUDA; torch.npu has most of the same names.",
    before="torch.cuda.synchronize()",
    after="torch.npu.synchronize()",
    safety="safe",
    hooks=(
        NameHook(names=("torch.cuda.*",), visit=_visit),
        NameHook(names=("torch._C.*",), visit=_private),
    ),
)
