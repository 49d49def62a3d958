"""TW509: switches of TF32."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, replace
from trainwright.migrate.python.hugging_face import switch
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

_EVIDENCE = "documentation of torch_npu.npu.matmul.allow_hf32 and torch_npu.npu.conv.allow_hf32"
_NO_TF32 = "The NPU has no TF32; the switch has no effect there."
_FLAGS = (
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cuda.matmul.fp32_precision",
    "torch.backends.cudnn.allow_tf32",
    "torch.backends.cudnn.fp32_precision",
    "torch.backends.cudnn.conv.fp32_precision",
    "torch.backends.cudnn.rnn.fp32_precision",
)
_OFF = (False, "ieee")
_PRECISION = "torch.set_float32_matmul_precision"


def _flag(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    above = file.parent(ref.node)
    value = file.constant(above.value) if isinstance(above, ast.Assign) else None
    convolution = "cudnn" in ref.name
    if convolution and isinstance(above, ast.Assign) and value in _OFF and value is not None:
        yield remark(
            file, ref.node, number=RULE.number, title=f"{ref.name.removeprefix('torch.backends.')} is switched off",
            name=ref.name, detail="Convolutions use HF32 on the NPU unless that is switched off, too.",
            advice="set torch.npu.conv.allow_hf32 = False", outcome="manual", confidence=ref.confidence, minutes=2,
            evidence=_EVIDENCE,
        )  # fmt: skip
        return
    kind = "conv" if convolution else "matmul"
    default = "on" if convolution else "off"
    yield remark(
        file, ref.node, number=RULE.number, title=ref.name.removeprefix("torch.backends."), name=ref.name,
        detail=_NO_TF32,
        advice=f"nothing has to be done; torch.npu.{kind}.allow_hf32, {default} by default, is the nearest setting",
        outcome="note", confidence=ref.confidence, evidence=_EVIDENCE,
    )  # fmt: skip


def _precision(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.call is None or not ref.call.args or file.constant(ref.call.args[0]) == "highest":
        return
    yield remark(
        file, ref.node, number=RULE.number, title="set_float32_matmul_precision", name=ref.name,
        detail="It allows TF32, which the NPU does not have.",
        advice="nothing has to be done; torch.npu.matmul.allow_hf32, off by default, is the nearest setting",
        outcome="note", confidence=ref.confidence, evidence=_EVIDENCE,
    )  # fmt: skip


def _trainer(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if not ref.name.endswith(("TrainingArguments", "Config")):
        return
    found = switch(ref.call, "tf32")
    if found is None:
        return
    sure = isinstance(found.value, ast.Constant) and found.value.value is True
    fields = {
        "number": RULE.number, "title": f"tf32={file.text(found.value)}", "name": ref.name,
        "detail": "transformers raises an error for tf32=True on a machine without an Ampere or newer GPU.",
        "advice": "pass tf32=False, or leave it out", "confidence": ref.confidence,
        "evidence": "TrainingArguments of transformers: '--tf32 requires Ampere or a newer GPU arch'",
    }  # fmt: skip
    if sure and file.options.style == "npu":
        yield remark(file, found, safety="safe", edits=(replace(file, found.value, "False"),), **fields)
    else:
        yield remark(file, found, outcome="manual", minutes=2, **fields)


RULE = Rule(
    code="tf32-flags",
    number="TW509",
    summary="TF32 is switched on or off.",
    why="The NPU has no TF32, and transformers refuses to start with tf32=True. HF32 is its own short form of float32: "
    "off for matrix products, on for convolutions.",
    before="TrainingArguments(output, tf32=True)",
    after="TrainingArguments(output, tf32=False)",
    safety="safe",
    hooks=(
        NameHook(names=_FLAGS, visit=_flag),
        NameHook(names=(_PRECISION,), visit=_precision),
        NameHook(names=("transformers.*", "trl.*"), visit=_trainer),
    ),
)
