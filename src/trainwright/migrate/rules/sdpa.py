"""TW504: scaled_dot_product_attention beyond its limits on the NPU, and the choice among its CUDA kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

_SDPA = "torch.nn.functional.scaled_dot_product_attention"
_LARGEST = 512
_EVIDENCE = "API support table of torch_npu, scaled_dot_product_attention"
#: Methods that keep the last dimension of a tensor.
_KEEPS = frozenset({"contiguous", "to", "float", "half", "bfloat16", "cuda", "npu", "type", "clone", "requires_grad_"})
_SHAPED = frozenset({"randn", "rand", "zeros", "ones", "empty"})


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    call = ref.call
    if call is None:
        return
    given = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal"), call.args, strict=False))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    if file.options.soc == "950DT":
        yield _limit(ref, file, "is not listed for 950DT", "compute the scores, softmax and product one by one", 30)
    mask = given.get("attn_mask")
    if file.constant(given.get("is_causal")) is True and mask is not None and not _may_be_none(mask):
        yield _limit(ref, file, "takes no attn_mask together with is_causal", "merge the causal part into the mask", 10)
    size = _last_dimension(given.get("query"), file, 0)
    if size > _LARGEST:
        advice = "compute the scores, softmax and product one by one, or split the heads"
        yield _limit(ref, file, f"takes heads up to size {_LARGEST}, here it is {size}", advice, 30)


def _may_be_none(mask: ast.expr) -> bool:
    """A variable may hold None: only what is written out as a mask counts."""
    return not isinstance(mask, ast.Call | ast.BinOp | ast.Compare | ast.UnaryOp)


def _limit(ref: NameRef, file: PythonFile, what: str, advice: str, minutes: int) -> Remark:
    return remark(
        file, ref.node, number=RULE.number, title=f"scaled_dot_product_attention {what}", name=_SDPA, advice=advice,
        outcome="manual", confidence=ref.confidence, minutes=minutes, evidence=_EVIDENCE,
    )  # fmt: skip


def _last_dimension(expr: ast.expr | None, file: PythonFile, depth: int) -> int:
    """The size of the last dimension where the code spells it; 0 when it does not."""
    if isinstance(expr, ast.Name) and depth < 4:
        bindings = file.bindings(expr)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "value" else None
        return _last_dimension(value, file, depth + 1)
    if not isinstance(expr, ast.Call):
        return 0
    name = file.named(expr.func)
    if name.startswith("torch.") and name.rpartition(".")[2] in _SHAPED:
        return _spelled(expr.args, file)
    if not isinstance(expr.func, ast.Attribute):
        return 0
    if expr.func.attr in ("view", "reshape"):
        return _spelled(expr.args, file)
    swaps = expr.func.attr == "transpose" and [file.constant(arg) for arg in expr.args] in ([1, 2], [2, 1])
    return _last_dimension(expr.func.value, file, depth) if swaps or expr.func.attr in _KEEPS else 0


def _spelled(arguments: list[ast.expr], file: PythonFile) -> int:
    if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple | ast.List):
        arguments = arguments[0].elts
    last = file.constant(arguments[-1]) if len(arguments) >= 3 else None
    return last if isinstance(last, int) else 0


def _kernels(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    call = ref.call
    if call is None:
        return
    chosen = [
        node.attr
        for node in ast.walk(call)
        if isinstance(node, ast.Attribute) and file.named(node).startswith("torch.nn.attention.SDPBackend.")
    ]
    only_math = chosen == ["MATH"]
    yield remark(
        file, ref.node, number=RULE.number, title="sdpa_kernel chooses among the CUDA kernels of attention",
        name=ref.name,
        detail="The NPU has one kernel of its own, which is none of these."
        if not only_math
        else "It asks for the form in plain operators, usually for accuracy or second derivatives.",
        advice="remove the context manager: scaled_dot_product_attention chooses the kernel of the NPU itself"
        if not only_math
        else "write the scores, softmax and product out where it matters, else remove the context manager",
        outcome="manual", confidence=ref.confidence, minutes=5 if not only_math else 15,
        evidence="API support table of torch_npu; _scaled_dot_product_flash_attention has no NPU kernel in 2.8.0.post5",
    )  # fmt: skip


RULE = Rule(
    code="sdpa",
    number="TW504",
    summary="scaled_dot_product_attention is used beyond what the NPU takes, or one of its CUDA kernels is chosen.",
    why="On the NPU it is one fused operator, with limits of its own: heads up to size 512, no mask beside is_causal. "
    "The kernels that sdpa_kernel chooses among exist on CUDA only.",
    before="with sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n    out = F.scaled_dot_product_attention(q, k, v)",
    after="out = F.scaled_dot_product_attention(q, k, v)",
    hooks=(
        NameHook(names=(_SDPA,), visit=_visit),
        NameHook(names=("torch.nn.attention.sdpa_kernel",), visit=_kernels),
    ),
)
