"""The functions of flash-attn, and what each becomes with ``torch_npu.npu_fusion_attention``."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trainwright.migrate.python.fusion_attention import Attention, as_operand, bound_arguments, fusion_call, is_plain
from trainwright.migrate.python.module import PythonFile

_LENGTHS = ("cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k")
_COMMON = ("dropout_p", "softmax_scale", "causal", "window_size", "softcap", "alibi_slopes", "deterministic")
#: Function -> its parameters that hold tensors and lengths; the common ones follow (flash-attn 2.8).
KNOWN_CALLS: dict[str, tuple[str, ...]] = {
    "flash_attn_func": ("q", "k", "v"),
    "flash_attn_kvpacked_func": ("q", "kv"),
    "flash_attn_qkvpacked_func": ("qkv",),
    "flash_attn_varlen_func": ("q", "k", "v", *_LENGTHS),
    "flash_attn_varlen_kvpacked_func": ("q", "kv", *_LENGTHS),
    "flash_attn_varlen_qkvpacked_func": ("qkv", "cu_seqlens", "max_seqlen"),
    "flash_attn_unpadded_func": ("q", "k", "v", *_LENGTHS),
    "flash_attn_unpadded_kvpacked_func": ("q", "kv", *_LENGTHS),
    "flash_attn_unpadded_qkvpacked_func": ("qkv", "cu_seqlens", "max_seqlen"),
    "flash_attn_with_kvcache": ("q", "k_cache", "v_cache", "k", "v", "rotary_cos", "rotary_sin", "cache_seqlens"),
}
#: Argument -> (text of the value that says nothing, what the operator has for another value).
_NOTES: dict[str, tuple[tuple[str, ...], str]] = {
    "window_size": (
        ("(-1, -1)", "[-1, -1]", "(-1,-1)"),
        "window_size=(left, right) is sparse_mode=4 with pre_tockens=left, next_tockens=right and the same mask",
    ),
    "softcap": (("0.0", "0", "None"), "softcap has no counterpart: compute the scores with operators of torch"),
    "alibi_slopes": (("None",), "alibi_slopes becomes pse, the bias itself divided by scale"),
    "block_table": (("None",), "the operator takes no block table: gather the pages first"),
    "return_attn_probs": (
        ("False",),
        "the second and third result are the maximum and the sum of the softmax: the log-sum-exp is max + log(sum)",
    ),
}
_IGNORED = frozenset({"deterministic", "max_seqlen", "max_seqlen_q", "max_seqlen_k", "version", "fa_version"})


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """What to write for a call: the text, whether it is all there is to it, and what else to know."""

    text: str
    whole: bool
    note: str = ""
    minutes: int = 15


def mapped(call: ast.Call, name: str, file: PythonFile) -> Mapped:
    """The call in terms of the operator of the NPU."""
    last = name.rpartition(".")[2]
    own = KNOWN_CALLS[last]
    if last == "flash_attn_with_kvcache":
        return _cached(file, bound_arguments(call, own))
    unpadded = "unpadded" in last
    common = _COMMON[:3] if unpadded else _COMMON
    arguments = bound_arguments(call, (*own, *common))
    if arguments is None or not name.startswith("flash_attn.") or ".cute." in name:
        return _general(last)
    tensors = [arguments.get(parameter) for parameter in own if not parameter.startswith(("max", "cu_"))]
    if not all(is_plain(tensor) for tensor in tensors):
        return _general(last)
    notes, whole = _notes(arguments, file)
    known = {*own, *common, *_NOTES, *_IGNORED}
    whole = whole and set(arguments) <= known and _lengths_known(own, arguments)
    text = fusion_call(_attention(own, arguments, file))
    return Mapped(text=text, whole=whole, note="; ".join(notes), minutes=10 if not notes else 30)


def _lengths_known(own: tuple[str, ...], arguments: dict[str, ast.expr]) -> bool:
    return all(arguments.get(parameter) is not None for parameter in own if parameter.startswith("cu_"))


def _attention(own: tuple[str, ...], arguments: dict[str, ast.expr], file: PythonFile) -> Attention:
    lengths = [parameter for parameter in own if parameter.startswith("cu_")]
    query = file.text(arguments[own[0]])
    axis = 1 if lengths else 2  # of the heads in the query; in a packed tensor that of the three
    packed = own[0] == "qkv"
    if packed:
        inputs = f"*{query}.unbind({axis})"
    elif own[1] == "kv":
        inputs = f"{query}, *{file.text(arguments['kv'])}.unbind({axis})"
    else:
        inputs = ", ".join(file.text(arguments[parameter]) for parameter in own[:3])
    return Attention(
        inputs=inputs,
        heads=f"{query}.shape[{axis + packed}]",
        size=f"{query}.shape[-1]",
        device=f"{query}.device",
        layout="TND" if lengths else "BSND",
        scale=_scale(arguments.get("softmax_scale"), f"{query}.shape[-1] ** -0.5", file),
        dropout=_unless(arguments.get("dropout_p"), ("0.0", "0", "0."), file),
        causal=_unless(arguments.get("causal"), (), file) or "False",
        more=_sequence_lengths(lengths, arguments, file),
    )


def _sequence_lengths(lengths: list[str], arguments: dict[str, ast.expr], file: PythonFile) -> tuple[str, ...]:
    # The operator counts from the end of the first sequence: without the leading 0, as integers on the host.
    texts = [f"{as_operand(file, arguments[name])}[1:].tolist()" for name in lengths if name in arguments]
    if not texts:
        return ()
    return (f"actual_seq_qlen={texts[0]}", f"actual_seq_kvlen={texts[-1]}")


def _scale(expr: ast.expr | None, default: str, file: PythonFile) -> str:
    """The scale; a variable may well hold None, which flash-attn takes for the default and the operator does not."""
    text = _unless(expr, ("None",), file)
    if not text or not is_plain(expr) or isinstance(file.constant(expr), int | float):
        return text
    return f"{default} if {text} is None else {text}"


def _unless(expr: ast.expr | None, plain: tuple[str, ...], file: PythonFile) -> str:
    return "" if expr is None or file.text(expr) in plain else as_operand(file, expr)


def _notes(arguments: dict[str, ast.expr], file: PythonFile) -> tuple[list[str], bool]:
    """What to know about arguments without an equal, and whether the call can do without."""
    met = [
        note for name, (plain, note) in _NOTES.items() if name in arguments and file.text(arguments[name]) not in plain
    ]
    return met, not met and not isinstance(arguments.get("softmax_scale"), ast.IfExp)


def _cached(file: PythonFile, arguments: dict[str, ast.expr] | None) -> Mapped:
    query = arguments.get("q") if arguments else None
    text = file.text(query) if query is not None and is_plain(query) else "q"
    attention = Attention(
        inputs=f"{text}, k, v",
        heads=f"{text}.shape[2]",
        size=f"{text}.shape[-1]",
        device=f"{text}.device",
        causal="True",
    )
    return Mapped(
        text=fusion_call(attention),
        whole=False,
        note="first apply the rotary embedding, write the new keys and values into the cache and take k and v as the "
        "filled part of it; without gradients torch_npu.npu_fused_infer_attention_score does it for a cache",
        minutes=60,
    )


def _general(last: str) -> Mapped:
    """The form of the call with the names of the parameters, where the arguments cannot be read off."""
    lengths = tuple(name for name in KNOWN_CALLS[last] if name.startswith("cu_"))
    axis = 1 if lengths else 2
    ends = (
        (f"actual_seq_qlen={lengths[0]}[1:].tolist()", f"actual_seq_kvlen={lengths[-1]}[1:].tolist()")
        if lengths
        else ()
    )
    attention = Attention(
        inputs="q, k, v", heads=f"q.shape[{axis}]", size="q.shape[-1]", device="q.device",
        layout="TND" if lengths else "BSND", dropout="dropout_p", causal="causal", more=ends,
    )  # fmt: skip
    note = f"q, k and v are the parts of a packed argument: .unbind({axis})" if "packed" in last else ""
    return Mapped(text=fusion_call(attention), whole=False, note=note, minutes=20)
