"""TW503: flex_attention of torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.usage import is_use
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

_MODULE = "torch.nn.attention.flex_attention"
_MASKS = frozenset({"create_block_mask", "create_mask", "create_nested_block_mask"})
_EVIDENCE = "deepseek-ai/DeepSpec #6; device check of flex_attention in torch"


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    last = ref.name.rpartition(".")[2]
    if not is_use(ref, file):
        return
    if last in _MASKS and ref.call is not None:
        yield _mask(ref, file, last)
    if ref.name != f"{_MODULE}.flex_attention" or not _runs(ref, file):
        return
    if ref.call is not None and _on_cpu(ref.call, file):
        return
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title="flex_attention does not run on the NPU",
        name=ref.name,
        detail="It checks the device of the query and raises an error on an NPU.",
        advice="use torch.nn.functional.scaled_dot_product_attention with a boolean mask for mask_mod, or a float mask "
        "added to the scores for score_mod; torch_npu.npu_fusion_attention has causal and band masks as sparse_mode",
        outcome="blocked",
        confidence=ref.confidence,
        minutes=120,
        evidence=_EVIDENCE,
    )


def _runs(ref: NameRef, file: PythonFile) -> bool:
    """Called, or handed to ``torch.compile`` or ``functools.partial``; a mere mention says nothing."""
    if ref.call is not None:
        return True
    above = file.parent(ref.node)
    return isinstance(above, ast.Call) and file.named(above.func) in ("torch.compile", "functools.partial")


def _on_cpu(call: ast.Call, file: PythonFile) -> bool:
    """Whether the query is moved to the CPU in the call itself."""
    query = call.args[0] if call.args else None
    if not isinstance(query, ast.Call) or not isinstance(query.func, ast.Attribute):
        return False
    moved = query.func.attr == "to" and bool(query.args) and file.constant(query.args[0]) == "cpu"
    return moved or query.func.attr == "cpu"


def _mask(ref: NameRef, file: PythonFile, last: str) -> Remark:
    block = last != "create_mask"
    return remark(
        file,
        ref.node,
        number=RULE.number,
        title=f"{last} is made for flex_attention",
        name=ref.name,
        detail="Only flex_attention takes a block mask." if block else "",
        advice="make a boolean mask of (query length, key length) with the same function, for "
        "scaled_dot_product_attention"
        if block
        else "its result, a boolean mask, fits scaled_dot_product_attention",
        outcome="manual" if block else "note",
        confidence=ref.confidence,
        minutes=20 if block else 0,
        evidence=_EVIDENCE,
    )


RULE = Rule(
    code="flex-attention",
    number="TW503",
    summary="flex_attention of torch is used.",
    why="flex_attention is compiled to a Triton kernel for CUDA and refuses tensors on an NPU.",
    before="out = flex_attention(q, k, v, block_mask=create_block_mask(causal, None, None, n, n))",
    after="out = F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    hooks=(NameHook(names=(f"{_MODULE}.*",), visit=_visit),),
)
