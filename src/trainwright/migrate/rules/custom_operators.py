"""Calls from Python into operators that are written in CUDA, with the kernel behind each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from trainwright.migrate.native.call_sites import CallSite, call_sites, native_imports
from trainwright.migrate.native.counterparts import counterpart
from trainwright.migrate.native.guards import fallback_line
from trainwright.migrate.native.links import Reach
from trainwright.migrate.native.optional import without_module
from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import ImportRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import FileHook, Rule

_EVIDENCE = "the sources named here"
_SHOWN = 3
_GETATTR_ARGS = 3


def _visit(file: PythonFile) -> Iterator[Remark]:
    for imported, module in native_imports(file):
        yield _import(file, imported, module)
    for site in call_sites(file):
        if not _is_asked_for(file, site.node):
            yield _call(file, site)


def _is_asked_for(file: PythonFile, node: ast.AST) -> bool:
    """Whether the code only asks if the operator is there (``_C_OP is not None``, ``getattr(ops, "x", None)``)."""
    above = file.parent(node)
    if isinstance(node, ast.Call) and len(node.args) == _GETATTR_ARGS:
        return True
    return isinstance(above, ast.Compare) and any(
        isinstance(side, ast.Constant) and side.value is None for side in above.comparators
    )


def _import(file: PythonFile, imported: ImportRef, module: str) -> Remark:
    optional = imported.guarded or imported.typing_only
    return remark(
        file,
        imported.node,
        number=RULE.number,
        title=f"{module} is built from CUDA sources",
        detail="Without it the code falls back." if optional else "",
        advice=(
            "Check that the way without it does the same work."
            if optional
            else "Guard the import and use PyTorch operators without it, or build the module with NpuExtension."
        ),
        outcome="note" if optional else "blocked",
        minutes=0 if optional else 15,
        evidence=_EVIDENCE,
        name=module,
    )


def _call(file: PythonFile, site: CallSite) -> Remark:
    fallback = fallback_line(file, site.node) or without_module(file, site.node)
    known = counterpart(site.operator, *(kernel.name for kernel in site.reach.kernels))
    use = f"For {known.purpose}, use {known.use}." if known is not None else _advice(site.operator)
    fields: dict[str, Any] = {
        "title": f"{site.name} runs on CUDA",
        "detail": _behind(site.reach),
        "advice": use,
        "outcome": "blocked",
        "minutes": 30 if known is not None else 60,
    }
    if site.reach.cpu:
        fields |= {
            "title": f"{site.name} runs on the CPU and on CUDA only",
            "detail": f"{_behind(site.reach)} The implementation for the CPU is in {site.reach.cpu}.",
            "outcome": "manual",
        }
    if fallback is not None:
        fields |= {
            "detail": f"{_behind(site.reach)} Without CUDA the code falls back in line {fallback}.",
            "advice": f"Nothing has to be done; for speed: {use[:1].lower()}{use[1:]}",
            "outcome": "note",
            "minutes": 0,
        }
    return remark(
        file,
        site.node,
        number=RULE.number,
        confidence=site.confidence,
        evidence=known.evidence if known is not None else _EVIDENCE,
        name=site.name,
        **fields,
    )


_ADVICE = "Call PyTorch operators that compute the same, or write the kernel again for the NPU as TW605 says."


#: Words of names of operators that compute nothing, and what to do instead.
_APART = (
    (
        re.compile(r"alloc|mempool", re.IGNORECASE),
        "Leave the allocator out where HCCL manages the memory itself; torch.npu.NPUPluggableAllocator takes one "
        "of your own that is written for CANN.",
    ),
    (
        re.compile(r"all_?reduce|custom_ar|all_?gather|all_?to_?all|_ipc|ipc_|quick_reduce|qr_", re.IGNORECASE),
        "Use the collectives of torch.distributed with hccl.",
    ),
)


def _advice(operator: str) -> str:
    return next((advice for words, advice in _APART if words.search(operator)), _ADVICE)


def _behind(reach: Reach) -> str:
    places = [f"{kernel.name} ({kernel.file}:{kernel.line})" for kernel in reach.kernels]
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    if places:
        return f"Kernels behind it: {', '.join(places[:_SHOWN])}{more}."
    return "It ends in CUDA code." if reach.cuda else "Its sources are not in this project."


RULE = Rule(
    code="custom-operators",
    number="TW607",
    summary="Python calls an operator that is written in CUDA.",
    why="The kernel behind the call does not exist on the NPU; the call fails there.",
    before="keep = _C.nms(boxes, scores, threshold)",
    after="keep = torchvision.ops.nms(boxes, scores, threshold)",
    hooks=(FileHook(languages=("python",), visit=_visit),),
)
