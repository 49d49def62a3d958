"""TW203: fused and capturable optimizers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

#: Fused kernels of torch that torch_npu registers (torch_npu 2.8.0.post5: _fused_adamw_, not _fused_adam_).
_FUSED = frozenset({"AdamW"})
_TORCH_NPU = {"Adam": "NpuFusedAdam", "AdamW": "NpuFusedAdamW", "SGD": "NpuFusedSGD", "RMSprop": "NpuFusedRMSprop"}
_EVIDENCE = "registered ATen overloads of torch_npu 2.8.0.post5"


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.call is None:
        return
    last = ref.name.rpartition(".")[2]
    for keyword in ref.call.keywords:
        if keyword.arg not in ("fused", "capturable") or file.constant(keyword.value) is False:
            continue
        if isinstance(keyword.value, ast.Constant) and keyword.value.value is None:
            continue
        known = keyword.arg == "fused" and last in _FUSED
        yield remark(
            file,
            keyword,
            number=RULE.number,
            title=f"{last}({keyword.arg}={file.text(keyword.value)})",
            name=f"torch.optim.{last}",
            detail=f"torch_npu registers the fused kernel of {last}." if known else _why(keyword.arg, last),
            advice=_advice(keyword.arg, last, known),
            outcome="note" if known else "manual",
            confidence=ref.confidence,
            minutes=0 if known else 5,
            evidence=_EVIDENCE,
        )


def _why(argument: str, name: str) -> str:
    if argument == "capturable":
        return "It is for CUDA graphs; torch.optim accepts it for the devices it knows only."
    return f"torch_npu registers no fused kernel of {name}: the optimizer raises an error when it is made or stepped."


def _advice(argument: str, name: str, known: bool) -> str:
    if known:
        return "it needs no change; where an old torch_npu refuses it, pass fused=False"
    own = f", or use torch_npu.optim.{_TORCH_NPU[name]}" if name in _TORCH_NPU and argument == "fused" else ""
    return f"pass {argument}=False{own}"


RULE = Rule(
    code="fused-optimizers",
    number="TW203",
    summary="An optimizer is asked for its fused or capturable form.",
    why="torch_npu registers the fused kernel of AdamW only; other fused forms raise an error.",
    before="torch.optim.Adam(params, lr=1e-3, fused=True)",
    after="torch.optim.Adam(params, lr=1e-3, fused=False)",
    hooks=(NameHook(names=("torch.optim.*",), visit=_visit),),
)
