"""TW301: the NCCL backend of torch.distributed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, replace, word_edit
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import NameHook, Rule, StringHook

#: Backend strings that say one thing per device keep their other parts; ``cuda:nccl`` is ``npu:hccl``.
_DEVICE_BACKENDS = "cuda:nccl"
_MISSING = {
    "torch.distributed.is_nccl_available": "ask torch.npu.is_available() instead",
    "torch.distributed.Backend.NCCL": 'write the backend name "hccl"',
    "torch.distributed.ProcessGroupNCCL": "its options have no counterpart by name: see ProcessGroupHCCL of torch_npu",
}


def _visit(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    parts = ref.value.split(",")
    if ref.value != "nccl" and _DEVICE_BACKENDS not in parts:
        return
    role = ref.role
    if ref.value == "nccl" and (role is None or role.kind != "backend"):
        return
    edits = _edits(ref, file)
    title = f'backend "{ref.value}"'
    if file.options.style != "npu" or not edits:
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=title,
            outcome="note" if file.options.style == "shim" else "manual",
            advice="use torch.distributed.get_default_backend_for_device(device), or hccl",
            minutes=0 if file.options.style == "shim" else 5,
        )
        return
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title=title,
        safety="safe",
        confidence=role.confidence if role else "inferred",
        edits=edits,
        registers=True,
        evidence="HCCL registers with torch.distributed as hccl (torch_npu)",
    )


def _edits(ref: StringRef, file: PythonFile) -> tuple[Edit, ...]:
    if ref.value == "nccl" and not isinstance(ref.node, ast.BinOp):
        edit = word_edit(file, ref.node, "nccl", "hccl")
        return (edit,) if edit else ()
    if isinstance(ref.node, ast.Constant | ast.BinOp):
        new = ",".join("npu:hccl" if part == _DEVICE_BACKENDS else part for part in ref.value.split(","))
        return (replace(file, ref.node, f'"{"hccl" if ref.value == "nccl" else new}"'),)
    return ()


def _missing(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    known = next((name for name in _MISSING if ref.name == name or ref.name.startswith(f"{name}.")), None)
    if known:
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=f"{known} is about NCCL",
            name=known,
            advice=_MISSING[known],
            outcome="note" if file.options.style == "shim" else "manual",
            confidence=ref.confidence,
            minutes=10,
        )


RULE = Rule(
    code="process-group",
    number="TW301",
    summary="The process group uses the NCCL backend.",
    why="Collectives between NPUs go through HCCL; torch on an Ascend machine has no NCCL.",
    before='dist.init_process_group("nccl")',
    after='dist.init_process_group("hccl")',
    safety="safe",
    hooks=(
        StringHook(words=("nccl",), visit=_visit),
        NameHook(names=tuple(f"{name}.*" for name in _MISSING), visit=_missing),
    ),
)
