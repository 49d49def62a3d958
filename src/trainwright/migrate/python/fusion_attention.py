"""``torch_npu.npu_fusion_attention`` in the place of a call of flash-attn or xformers: layout, scale, mask, result.

The operator takes the mask the other way round (True: left out), the layout as a string, the part that dropout keeps
instead of the part it drops, and returns a tuple whose first element is the result.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from trainwright.migrate.python.module import PythonFile

EVIDENCE = "documentation of torch_npu.npu_fusion_attention (torch_npu 2.8.0.post5); transformers PR #36696"
#: What holds for every call, and the source text cannot show.
LIMITS = "The operator is for training in eager mode; key and value must have one shape, and all three one data type."


@dataclass(frozen=True, kw_only=True)
class Attention:
    """An attention call in terms of the operator; every field is source text.

    Args:
        inputs: query, key and value, as arguments.
        heads: number of heads of the query.
        size: size of a head, for the default scale.
        device: where the mask of a causal call is made.
        layout: ``BSND`` or ``TND``.
        scale: empty for the default, one over the root of the head size.
        dropout: probability to drop; empty for none.
        causal: ``True``, ``False`` or a condition.
        more: further arguments.
    """

    inputs: str
    heads: str
    size: str
    device: str
    layout: str = "BSND"
    scale: str = ""
    dropout: str = ""
    causal: str = "False"
    more: tuple[str, ...] = field(default=())


def fusion_call(call: Attention) -> str:
    """The text of the call; its value is the attention output alone."""
    parts = [call.inputs, call.heads, f'"{call.layout}"', f"scale={call.scale or f'{call.size} ** -0.5'}"]
    if call.dropout:
        parts.append(f"keep_prob=1.0 - {call.dropout}")
    parts += [*_mask(call), *call.more]
    return f"torch_npu.npu_fusion_attention({', '.join(parts)})[0]"


def _mask(call: Attention) -> list[str]:
    # Mode 3 wants the compressed mask of 2048 x 2048 whatever the lengths are, and aligns it at the bottom right.
    mask = f"torch.ones(2048, 2048, dtype=torch.bool, device={call.device}).triu(1)"
    if call.causal == "False":
        return []
    if call.causal == "True":
        return [f"atten_mask={mask}", "sparse_mode=3"]
    return [f"atten_mask={mask} if {call.causal} else None", f"sparse_mode=3 if {call.causal} else 0"]


def bound_arguments(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
    """Arguments by parameter name; None when stars hide some or one has no name here."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or len(call.args) > len(parameters):
        return None
    found = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        found[keyword.arg] = keyword.value
    return found


def is_plain(expr: ast.expr | None) -> bool:
    """A name or a chain of attributes of one: may be written more than once without another meaning."""
    while isinstance(expr, ast.Attribute):
        expr = expr.value
    return isinstance(expr, ast.Name)


def as_operand(file: PythonFile, expr: ast.expr) -> str:
    """The text of an expression where it stands beside an operator."""
    simple = isinstance(expr, ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript)
    return file.text(expr) if simple else f"({file.text(expr)})"
