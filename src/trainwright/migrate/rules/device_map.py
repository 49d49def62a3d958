"""TW506: device maps of Hugging Face that name CUDA devices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.given import given_to
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.python.style import device_edit
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import Rule, StringHook

_DEVICE = re.compile(r"cuda(:(\d+|\{\w*\}))?")
_EVIDENCE = "transformers PR #24879; accelerate PR #1676"


def _visit(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    if not _DEVICE.fullmatch(ref.value):
        return
    if not _is_map(ref.node, file) or _is_known_device(ref):
        return
    edit = device_edit(file, ref.node, ref.value) if file.options.style != "shim" else None
    title = f'device map "{ref.value}"'
    if edit is None:
        yield remark(
            file, ref.node, number=RULE.number, title=title, advice='write "npu" here, or "auto"', outcome="manual",
            confidence="inferred", minutes=2, evidence=_EVIDENCE,
        )  # fmt: skip
        return
    yield remark(
        file, ref.node, number=RULE.number, title=title, safety="safe", confidence="inferred", edits=(edit,),
        registers=True, evidence=_EVIDENCE,
    )  # fmt: skip


def _is_map(node: ast.expr, file: PythonFile) -> bool:
    """Whether a device is given to ``device_map``, by itself or as the place of a part of the model."""
    above = file.parent(node)
    whole = above if isinstance(above, ast.Dict) and node in above.values else None
    return any(given_to(file, value) == "device_map" for value in (node, whole) if value is not None)


def _is_known_device(ref: StringRef) -> bool:
    """Whether the rule on device strings speaks of it."""
    role = ref.role
    return role is not None and role.kind == "device"


RULE = Rule(
    code="device-map",
    number="TW506",
    summary="A model of Hugging Face is placed on a CUDA device.",
    why="device_map is a device for torch, and torch on an Ascend machine has none called cuda. Numbers and auto are "
    "fine: from torch 2.5.1 a number means the accelerator that is there.",
    before='AutoModel.from_pretrained(name, device_map="cuda:0")',
    after='AutoModel.from_pretrained(name, device_map="npu:0")',
    safety="safe",
    hooks=(StringHook(words=("cuda",), visit=_visit),),
)
