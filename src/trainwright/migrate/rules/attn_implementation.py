"""TW505: models of Hugging Face that are asked for flash-attn, flex_attention or xformers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, replace, word_edit
from trainwright.migrate.python.given import given_to
from trainwright.migrate.python.hugging_face import LOADERS, LOADING, loading_call, switch
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import MethodHook, NameHook, Rule, StringHook

_WORDS = ("flash_attention_2", "flash_attention_3", "flex_attention", "xformers")
_KEYS = re.compile(r"_?(attn|attention)_(impl|implementation)(_internal)?")
_FLAG = "use_flash_attention_2"
_EVIDENCE = "transformers #36618, PR #36383, #36696, #39844"
_FLASH = (
    "flash-attn cannot be installed on an Ascend machine. transformers with PR #36696 and #39844 runs "
    "flash_attention_2 through torch_npu.npu_fusion_attention; older ones fail when the model is loaded."
)
_WHY = {
    "flash_attention_2": (_FLASH, _EVIDENCE),
    "flash_attention_3": ("flash-attn cannot be installed on an Ascend machine.", _EVIDENCE),
    "flex_attention": ("flex_attention refuses tensors on an NPU.", "deepseek-ai/DeepSpec #6"),
    "xformers": ("xformers has no kernels for the NPU.", "Ascend/pytorch #80; xformers #1237"),
}
_ADVICE = (
    'use "sdpa", which is a fused operator on the NPU; batches packed without padding need flash_attention_2 and a '
    "transformers that has it for the NPU"
)


def _visit(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    given = given_to(file, ref.node)
    if ref.value == _FLAG:
        yield from _key(ref.node, file)
    if ref.value not in _WHY or not _KEYS.fullmatch(given):
        return
    why, evidence = _WHY[ref.value]
    yield _remark(
        file, ref.node, f'attention "{ref.value}"', why, evidence, word_edit(file, ref.node, ref.value, "sdpa")
    )


def _remark(file: PythonFile, node: ast.AST, title: str, why: str, evidence: str, edit: Edit | None) -> Remark:
    if edit is None or file.options.style == "shim":
        return remark(
            file, node, number=RULE.number, title=title, detail=why, advice=_ADVICE, outcome="manual", minutes=5,
            confidence="inferred", evidence=evidence,
        )  # fmt: skip
    return remark(
        file, node, number=RULE.number, title=title, detail=why, advice=_ADVICE, safety="unsafe",
        confidence="inferred", edits=(edit,), evidence=evidence,
    )  # fmt: skip


def _key(node: ast.expr, file: PythonFile) -> Iterator[Remark]:
    """``{"use_flash_attention_2": True}`` and ``kwargs["use_flash_attention_2"] = True``."""
    above = file.parent(node)
    value: ast.expr | None = None
    if isinstance(above, ast.Dict) and node in above.keys:
        value = above.values[above.keys.index(node)]
    elif isinstance(above, ast.Subscript) and isinstance(assigned := file.parent(above), ast.Assign):
        value = assigned.value
    if value is not None and file.constant(value) is True:
        yield _flag(value, file)


def _flag(value: ast.expr, file: PythonFile) -> Remark:
    literal = isinstance(value, ast.Constant)
    edit = replace(file, value, "False") if literal else None
    return _remark(file, value, f"{_FLAG}={file.text(value)}", _FLASH, _EVIDENCE, edit)


def _load(ref: NameRef | ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    found = switch(loading_call(ref, file), _FLAG)
    if found is not None:
        yield _flag(found.value, file)


RULE = Rule(
    code="attn-implementation",
    number="TW505",
    summary="A model of Hugging Face is asked for an attention that the NPU does not have.",
    why="flash-attn cannot be installed on an Ascend machine. sdpa is the attention of torch, a fused operator there.",
    before='AutoModel.from_pretrained(name, attn_implementation="flash_attention_2")',
    after='AutoModel.from_pretrained(name, attn_implementation="sdpa")',
    safety="unsafe",
    hooks=(
        StringHook(words=(*_WORDS, _FLAG), visit=_visit),
        NameHook(names=LOADERS, visit=_load),
        MethodHook(attributes=LOADING, visit=_load),
    ),
)
