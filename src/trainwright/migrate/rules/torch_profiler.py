"""TW403: the profiler of torch, asked for what runs on CUDA devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, word_edit
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.profiler_unit import Held, profiler_refs, unit_edits, wants_device
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule, StringHook

_TABLE = "torch_npu 2.8 API support table"
_COLUMNS = ("cuda_time_total", "self_cuda_time_total", "cuda_memory_usage", "self_cuda_memory_usage")
_ADVICE = (
    "take profile, schedule, tensorboard_trace_handler and ProfilerActivity.NPU from torch_npu.profiler, all of them "
    "or none; what key_averages() tells stands in operator_details.csv and kernel_details.csv of its output"
)


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    """The first place in a file that asks for the device carries the edits of all; without them each is named."""
    if not wants_device(ref):
        return
    refs = profiler_refs(file)
    first = min((other for other in refs if wants_device(other)), key=lambda other: file.span(other.node))
    fields = {"number": RULE.number, "title": f"profile of CUDA devices: {ref.name}", "name": ref.name}
    if file.options.style == "shim":
        detail = "transfer_to_npu puts the profiler of torch_npu in its place."
        yield remark(file, ref.node, outcome="note", detail=detail, evidence=_TABLE, **fields)
        return
    try:
        if file.options.style == "agnostic":
            raise Held("torch and torch_npu have a profiler each, with no common name")
        edits = unit_edits(file, refs)
    except Held as reason:
        yield remark(
            file, ref.node, outcome="manual", detail=f"Not rewritten: {reason}.", advice=_ADVICE, evidence=_TABLE,
            minutes=15 if ref.node is first.node else 2, **fields,
        )  # fmt: skip
        return
    if ref.node is first.node:
        detail = "The profiler of this file moves as a whole: its names do not mix with those of torch.profiler."
        yield remark(
            file, ref.node, safety="safe", edits=tuple(edits), registers=True, detail=detail, evidence=_TABLE, **fields
        )


def _column(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    """``sort_by="cuda_time_total"``, ``export_stacks(path, "self_cuda_time_total")``."""
    if ref.value not in _COLUMNS:
        return
    above = file.parent(ref.node)
    call = file.parent(above) if isinstance(above, ast.keyword) else above
    method = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
    if method not in ("table", "export_stacks"):
        return
    fields = {"number": RULE.number, "title": f'column "{ref.value}" of a profile', "name": ref.value}
    edit = word_edit(file, ref.node, "self_cuda_time_total", "self_npu_time_total")
    if method == "export_stacks" and edit is not None and file.options.style == "npu":
        yield remark(file, ref.node, safety="unsafe", edits=(edit,), confidence="guessed", **fields)
        return
    advice = "sort by device_time_total, or read operator_details.csv in the output of torch_npu.profiler"
    yield remark(file, ref.node, outcome="manual", advice=advice, minutes=5, evidence=_TABLE, **fields)


def _autograd(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    given = {keyword.arg: keyword.value for keyword in ref.call.keywords} if ref.call else {}
    asked = "use_cuda" in given and file.constant(given["use_cuda"]) is not False
    if asked or ("use_device" in given and file.constant(given["use_device"]) == "cuda"):
        yield remark(
            file, ref.node, number=RULE.number, title="profile of CUDA devices: torch.autograd.profiler.profile",
            name=ref.name, outcome="manual", advice="run the block under torch_npu.profiler.profile(), which records "
            "the host and the device", minutes=15, confidence=ref.confidence, evidence=_TABLE,
        )  # fmt: skip


RULE = Rule(
    code="torch-profiler",
    number="TW403",
    summary="The profiler of torch records CUDA devices.",
    why="torch.profiler sees nothing of what runs on an NPU. torch_npu.profiler has the same names and arguments, with "
    "ProfilerActivity.NPU, but no key_averages(): it writes its tables to files.",
    before="with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]): ...",
    after="with torch_npu.profiler.profile(activities=[torch_npu.profiler.ProfilerActivity.NPU]): ...",
    safety="safe",
    hooks=(
        NameHook(names=("torch.profiler.ProfilerActivity.CUDA", "torch.profiler.profile"), visit=_visit),
        NameHook(names=("torch.autograd.profiler.profile",), visit=_autograd),
        StringHook(words=_COLUMNS, visit=_column),
    ),
)
