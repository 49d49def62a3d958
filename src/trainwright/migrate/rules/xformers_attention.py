"""TW502: attention and other operators of xformers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.fusion_attention import (
    EVIDENCE,
    LIMITS,
    Attention,
    as_operand,
    bound_arguments,
    fusion_call,
    is_plain,
)
from trainwright.migrate.python.given import is_optional
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.usage import is_own_package
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import MethodHook, NameHook, Rule

_ATTENTION = ("query", "key", "value", "attn_bias", "p", "scale", "op")
_CALLS = frozenset({"memory_efficient_attention", "memory_efficient_attention_forward"})
_ISSUES = "Ascend/pytorch #80; xformers #1237, #1380"
_VARLEN = (
    "a block-diagonal bias becomes the layout TND: inputs of (tokens, heads, size), and actual_seq_qlen and "
    "actual_seq_kvlen with the end of every sequence"
)
#: Kind of ``attn_bias`` -> what the operator has for it.
_BIASES = {
    "LowerTriangularMask": "the mask begins at the top left: sparse_mode=2 where query and key differ in length",
    "LowerTriangularFromBottomRightMask": "",
    "BlockDiagonalMask": _VARLEN,
    "BlockDiagonalCausalMask": f"{_VARLEN}; causal within each: sparse_mode=2 with the mask of 2048 x 2048",
    "BlockDiagonalCausalFromBottomRightMask": f"{_VARLEN}; causal within each: sparse_mode=3 with the same mask",
    "LowerTriangularMaskWithTensorBias": "the tensor goes into pse, divided by scale",
}
_TENSOR = (
    "a bias tensor is easiest with torch.nn.functional.scaled_dot_product_attention(q.transpose(1, 2), "
    "k.transpose(1, 2), v.transpose(1, 2), attn_mask=bias).transpose(1, 2); a boolean atten_mask of the operator has "
    "True where a position is left out"
)


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.call is None or is_own_package(ref.name, file):
        return
    last = ref.name.rpartition(".")[2]
    if last in _BIASES or ".attn_bias." in ref.name:
        return  # part of a call that has a remark of its own
    if last not in _CALLS:
        yield remark(
            file, ref.call.func, number=RULE.number, title=f"{ref.name} is not on the NPU", name=ref.name,
            advice="write it with operators of torch", outcome="manual", confidence=ref.confidence, minutes=30,
            evidence=_ISSUES,
        )  # fmt: skip
        return
    text, note = _mapped(ref.call, file)
    optional = is_optional(ref.node, file, root="xformers", words=("xformers", "available", "mem_eff", "memory_eff"))
    yield remark(
        file, ref.call, number=RULE.number, title=f"{last} of xformers", name=ref.name,
        detail="The import is guarded and the call stands under a condition: without xformers the program takes "
        "another way." if optional else f"On the NPU it finds no operator for the device. {LIMITS}",
        advice=f"write {text}" + (f"; {note}" if note else ""), outcome="note" if optional else "manual",
        confidence=ref.confidence, minutes=0 if optional else 20, evidence=f"{_ISSUES}; {EVIDENCE}",
    )  # fmt: skip


def _mapped(call: ast.Call, file: PythonFile) -> tuple[str, str]:
    """The call of the operator, and what else to know."""
    arguments = bound_arguments(call, _ATTENTION) or {}
    tensors = [arguments.get(name) for name in _ATTENTION[:3]]
    query, key, value = [
        file.text(tensor) if tensor and is_plain(tensor) else name for tensor, name in zip(tensors, "qkv", strict=True)
    ]
    bias = _bias(arguments.get("attn_bias"), file)
    notes = [
        _BIASES.get(bias, _TENSOR if bias else ""),
        "inputs of three dimensions need a dimension of heads: x.unsqueeze(2)",
    ]
    attention = Attention(
        inputs=f"{query}, {key}, {value}",
        heads=f"{query}.shape[2]",
        size=f"{query}.shape[-1]",
        device=f"{query}.device",
        scale=_text(arguments.get("scale"), ("None",), file),
        dropout=_text(arguments.get("p"), ("0.0", "0", "0."), file),
        causal="True" if bias.startswith("LowerTriangular") else "False",
    )
    return fusion_call(attention), "; ".join(note for note in notes if note)


def _bias(expr: ast.expr | None, file: PythonFile) -> str:
    """The name of the kind of a bias; ``tensor`` when it is none of the known ones, empty without bias."""
    if expr is None or (isinstance(expr, ast.Constant) and expr.value is None):
        return ""
    called = expr.func if isinstance(expr, ast.Call) else expr
    parts = file.named(called).split(".")
    return next((part for part in reversed(parts) if part in _BIASES), "tensor")


def _text(expr: ast.expr | None, plain: tuple[str, ...], file: PythonFile) -> str:
    return "" if expr is None or file.text(expr) in plain else as_operand(file, expr)


def _switch(node: ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    """``model.enable_xformers_memory_efficient_attention()``."""
    if file.call_of(node) is None:
        return
    if _forwards(node, file):
        return  # the library that offers the switch, not a program that throws it
    yield remark(
        file, node, number=RULE.number, title=f"{node.attr} switches xformers on",
        advice="remove the call: the attention of torch, scaled_dot_product_attention, runs on the NPU",
        outcome="manual", confidence="inferred", minutes=2, evidence=_ISSUES,
    )  # fmt: skip


def _forwards(node: ast.Attribute, file: PythonFile) -> bool:
    """Whether the call stands in a method for the same switch, or is one of an object on itself."""
    above: ast.AST | None = node
    while above is not None and not isinstance(above, ast.FunctionDef):
        above = file.parent(above)
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return own or (isinstance(above, ast.FunctionDef) and ("xformers" in above.name or "fn_recursive" in above.name))


RULE = Rule(
    code="xformers-attention",
    number="TW502",
    summary="Attention of xformers is called or switched on.",
    why="The kernels of xformers are CUDA kernels: on the NPU the call ends in 'No operator found'. Its layout, "
    "(batch, sequence, heads, size), is BSND of torch_npu.npu_fusion_attention.",
    before="out = xops.memory_efficient_attention(q, k, v, p=0.1)",
    after='out = torch_npu.npu_fusion_attention(q, k, v, q.shape[2], "BSND", scale=q.shape[-1] ** -0.5, '
    "keep_prob=1.0 - 0.1)[0]",
    hooks=(
        NameHook(names=("xformers.*",), visit=_visit),
        MethodHook(
            attributes=("enable_xformers_memory_efficient_attention", "set_use_memory_efficient_attention_xformers"),
            visit=_switch,
        ),
    ),
)
