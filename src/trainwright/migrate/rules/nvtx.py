"""TW404: marks and ranges for the timeline of Nsight Systems."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import carrier, remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.usage import is_own_package
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import NameHook, Rule

_NVTX = "torch.cuda.nvtx"
_MSTX = "torch.npu.mstx"
#: Functions that mstx has with the same meaning -> their parameter, and its name there.
_SAME = {"mark": ("msg", "message"), "range_start": ("msg", "message"), "range_end": ("range_id", "range_id")}
_BLOCK = "with torch.profiler.record_function(name): around the code, which every profiler shows"
_PAIR = f"handle = {_MSTX}.range_start(message) before the code and {_MSTX}.range_end(handle) after it"
#: Last part of a name of torch.cuda.nvtx or of the package nvtx -> what to write instead.
_INSTEAD = {
    "range_push": f"ranges of mstx are no stack: write {_PAIR}, or {_BLOCK}",
    "range_pop": f"end the range by the handle that {_MSTX}.range_start gave, or close the block of record_function",
    "range": f"write {_BLOCK}; for a whole function @{_MSTX}.mstx_range(message)",
    "annotate": f"write {_BLOCK}; for a whole function @{_MSTX}.mstx_range(message)",
    "push_range": f"ranges of mstx are no stack: write {_PAIR}, or {_BLOCK}",
    "pop_range": f"end the range by the handle that {_MSTX}.range_start gave, or close the block of record_function",
    "start_range": f"{_MSTX}.range_start(message) gives such a handle",
    "end_range": f"{_MSTX}.range_end(handle)",
    "mark": f"{_MSTX}.mark(message)",
    "range_start": f"{_MSTX}.range_start(message) gives such a handle",
    "range_end": f"{_MSTX}.range_end(handle)",
}
_EVIDENCE = "torch_npu/npu/mstx.py (torch_npu 2.8.0.post5)"


def _torch(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    last = ref.name.removeprefix(_NVTX).lstrip(".")
    if not last or (ref.call is None and isinstance(file.parent(ref.node), ast.Assign)):
        return  # what is done with the module or with another name for a function is looked at where it is done
    edits = _edits(ref, last, file) if file.options.style == "npu" else ()
    if edits:
        yield remark(
            file, ref.node, number=RULE.number, title=ref.name, name=ref.name, safety="safe", edits=edits,
            confidence=ref.confidence, registers=True, evidence=_EVIDENCE,
        )  # fmt: skip
        return
    detail = "torch without CUDA raises RuntimeError here."
    if file.options.style == "shim":
        detail = "transfer_to_npu does not replace it: the access raises AttributeError."
    yield _manual(ref, last, detail, file)


def _edits(ref: NameRef, last: str, file: PythonFile) -> tuple[Edit, ...]:
    """The same function of mstx, when the call passes what it takes."""
    spelled, call, node = carrier(file, ref.node, "torch.cuda"), ref.call, ref.node
    if (
        last not in _SAME
        or call is None
        or not isinstance(spelled, ast.Attribute)
        or not isinstance(node, ast.Attribute)
    ):
        return ()
    old, new = _SAME[last]
    if len(call.args) + len(call.keywords) != 1 or any(isinstance(argument, ast.Starred) for argument in call.args):
        return ()
    start, end = file.span(spelled.value)[1], file.span(node.value)[1]
    renamed = []
    for keyword in call.keywords:
        if keyword.arg != old:
            return ()
        if old != new:
            at = file.span(keyword)[0]
            renamed.append(Edit(start=at, end=at + len(old), new=new))
    return (Edit(start=start, end=end, new=".npu.mstx"), *renamed)


def _package(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    """The package nvtx, which needs the library of NVIDIA."""
    last = ref.name.rpartition(".")[2]
    if ref.call is not None and last in _INSTEAD and not is_own_package("nvtx", file):
        yield _manual(ref, last, "The package nvtx marks the timeline of tools of NVIDIA only.", file)


def _emit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    yield remark(
        file, ref.node, number=RULE.number, title="torch.autograd.profiler.emit_nvtx is not supported on the NPU",
        name="torch.autograd.profiler.emit_nvtx", outcome="manual", minutes=10, confidence=ref.confidence,
        advice="run the block under torch_npu.profiler.profile(): it records every operator by itself",
        evidence="torch_npu 2.8 API support table",
    )  # fmt: skip


def _manual(ref: NameRef, last: str, detail: str, file: PythonFile) -> Remark:
    return remark(
        file, ref.node, number=RULE.number, title=f"{ref.name} marks the timeline of CUDA tools", name=ref.name,
        detail=detail, advice=_INSTEAD.get(last, f"mark with {_MSTX}, or with torch.profiler.record_function"),
        outcome="manual", minutes=3, confidence=ref.confidence, evidence=_EVIDENCE,
    )  # fmt: skip


RULE = Rule(
    code="nvtx",
    number="TW404",
    summary="Ranges or marks are set with NVTX.",
    why="NVTX belongs to CUDA; without it torch.cuda.nvtx raises. On the NPU torch.npu.mstx marks the timeline: it has "
    "mark, range_start and range_end, but no stack of ranges as range_push and range_pop use.",
    before='h = torch.cuda.nvtx.range_start("step")',
    after='h = torch.npu.mstx.range_start("step")',
    safety="safe",
    hooks=(
        NameHook(names=(f"{_NVTX}.*",), visit=_torch),
        NameHook(names=("nvtx.*",), visit=_package),
        NameHook(names=("torch.autograd.profiler.emit_nvtx",), visit=_emit),
    ),
)
