"""TW501: calls of flash-attn."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, replace
from trainwright.migrate.python.flash_calls import KNOWN_CALLS, Mapped, mapped
from trainwright.migrate.python.fusion_attention import EVIDENCE, LIMITS
from trainwright.migrate.python.given import is_optional
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.style import torch_visible
from trainwright.migrate.python.usage import is_own_package
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

#: The second version, and the names that the third one goes by.
PACKAGES = ("flash_attn", "flash_attn_interface", "flash_attn_3", "flashattn_hopper")
_PADDING = (
    "it is plain PyTorch: copy the function out of flash_attn/bert_padding.py into the project, "
    "as transformers does for the NPU in integrations/npu_flash_attention.py",
    10,
    "transformers PR #36696",
)
_ROTARY = (
    "torch_npu.npu_rotary_mul(x, cos, sin) takes x as (batch, sequence, heads, size) and cos, sin as "
    "(1, sequence, 1, size), each repeated to the whole size; interleaved=True is rotary_mode='interleave'",
    20,
    "documentation of torch_npu.npu_rotary_mul (torch_npu 2.8.0.post5)",
)
#: Leading name -> (advice, minutes, evidence) for what is not attention itself. The longest that fits counts.
_OTHERS: dict[str, tuple[str, int, str]] = {
    "flash_attn": (
        "write it with operators of torch, or torch_npu.npu_fusion_attention where it computes attention",
        60,
        "transformers #36618",
    ),
    "flash_attn.flash_attn_interface": (
        "torch_npu.npu_fusion_attention returns the output, then the maximum and the sum of the softmax, of which the "
        "log-sum-exp is max + log(sum); its backward pass on its own is torch_npu.npu_fusion_attention_grad",
        60,
        EVIDENCE,
    ),
    "flash_attn.bert_padding": _PADDING,
    "flash_attn.layers.rotary": _ROTARY,
    "flash_attn.ops.triton.rotary": _ROTARY,
    "flash_attn.ops.rms_norm": ("use torch_npu.npu_rms_norm(x, weight, epsilon)[0]", 15, "transformers #36618"),
    "flash_attn.ops.layer_norm": ("use torch.nn.functional.layer_norm", 15, "transformers #36618"),
    "flash_attn.ops.fused_dense": ("use torch.nn.Linear and the activation after it", 15, "transformers #36618"),
    "flash_attn.ops.activations": ("use the activation of torch.nn.functional", 10, "transformers #36618"),
    "flash_attn.losses.cross_entropy": ("use torch.nn.CrossEntropyLoss", 10, "transformers #36618"),
}


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.call is None or is_own_package(ref.name, file):
        return
    last = ref.name.rpartition(".")[2]
    if last not in KNOWN_CALLS or _passes_on(ref.call):
        yield _other(ref, file) if last not in KNOWN_CALLS else _wrapped(ref, last, file)
        return
    found = mapped(ref.call, ref.name, file)
    title = f"{last} of flash-attn"
    if is_optional(ref.node, file, root=ref.name.partition(".")[0], words=("flash", "fa2", "fa3", "available")):
        yield remark(
            file, ref.call, number=RULE.number, title=title, name=ref.name, outcome="note", confidence=ref.confidence,
            detail="The import is guarded and the call stands under a condition: without flash-attn the program takes "
            "another way.",
            advice=f"keep the condition off, or {_advice(found)}", evidence=EVIDENCE,
        )  # fmt: skip
        return
    offered = file.options.style == "npu" and found.whole and torch_visible(file, ref.node)
    if offered and "#" not in file.text(ref.call):
        yield remark(
            file, ref.call, number=RULE.number, title=title, name=ref.name, detail=f"{found.note} {LIMITS}".strip(),
            advice="compare one forward and backward pass with the CPU", safety="unsafe", confidence=ref.confidence,
            edits=(replace(file, ref.call, found.text),), registers=True, evidence=EVIDENCE,
        )  # fmt: skip
        return
    yield remark(
        file, ref.call, number=RULE.number, title=title, name=ref.name, detail=LIMITS, advice=_advice(found),
        outcome="manual", confidence=ref.confidence, minutes=found.minutes, evidence=EVIDENCE,
    )  # fmt: skip


def _passes_on(call: ast.Call) -> bool:
    """Whether a call hands on all that the function around it got: ``f(*args, **kwargs)``."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred and any(keyword.arg is None for keyword in call.keywords)


def _wrapped(ref: NameRef, last: str, file: PythonFile) -> Remark:
    return remark(
        file, ref.call or ref.node, number=RULE.number, title=f"{last} of flash-attn", name=ref.name, detail=LIMITS,
        advice="the arguments are named where this is called from: give the function around it their names, and "
        "compute with torch_npu.npu_fusion_attention or scaled_dot_product_attention there",
        outcome="manual", confidence=ref.confidence, minutes=20, evidence=EVIDENCE,
    )  # fmt: skip


def _advice(found: Mapped) -> str:
    return f"write {found.text}; {found.note}" if found.note else f"write {found.text}"


def _other(ref: NameRef, file: PythonFile) -> Remark:
    known = max((name for name in _OTHERS if f"{ref.name}.".startswith(f"{name}.")), key=len, default="flash_attn")
    advice, minutes, evidence = _OTHERS[known]
    assert ref.call is not None
    return remark(
        file, ref.call.func, number=RULE.number, title=f"{ref.name} is not on the NPU", name=ref.name, advice=advice,
        outcome="manual", confidence=ref.confidence, minutes=minutes, evidence=evidence,
    )  # fmt: skip


RULE = Rule(
    code="flash-attention",
    number="TW501",
    summary="A function of flash-attn is called.",
    why="flash-attn is made of CUDA kernels and cannot be installed on an Ascend machine. The operator of the NPU "
    "takes the same layout, (batch, sequence, heads, size), as BSND; its mask says what to leave out.",
    before="out = flash_attn_func(q, k, v, causal=True)",
    after='out = torch_npu.npu_fusion_attention(q, k, v, q.shape[2], "BSND", scale=q.shape[-1] ** -0.5, '
    "atten_mask=torch.ones(2048, 2048, dtype=torch.bool, device=q.device).triu(1), sparse_mode=3)[0]",
    safety="unsafe",
    hooks=(NameHook(names=tuple(f"{package}.*" for package in PACKAGES), visit=_visit),),
)
