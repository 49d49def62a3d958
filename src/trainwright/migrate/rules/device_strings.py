"""TW101: strings that name a CUDA device and reach something that takes a device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.python.style import device_edit
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import Rule, StringHook

_DEVICE = re.compile(r"cuda(:(\d+|%d|%s|\{\w*\})?)?")


def _visit(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    if not _DEVICE.fullmatch(ref.value):
        return
    role = ref.role
    if role is None or role.kind != "device":
        return
    if (table := _location_table(ref, file)) is not None:
        yield from _location(ref, table, file)
        return
    edit = device_edit(file, ref.node, ref.value) if file.options.style != "shim" else None
    if edit is None:
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=f'device "{ref.value}"',
            outcome="manual" if file.options.style != "shim" else "note",
            advice='write "npu" here, or take the device from a setting',
            confidence=role.confidence,
            minutes=2,
        )
        return
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title=f'device "{ref.value}"',
        safety="unsafe" if role.confidence == "guessed" else "safe",
        confidence=role.confidence,
        edits=(edit,),
        registers=True,
    )


def _location_table(ref: StringRef, file: PythonFile) -> ast.Dict | None:
    """The table for map_location that a string is a key of: ``{"cuda:0": f"cuda:{rank}"}``."""
    at: ast.AST = ref.node
    while isinstance(above := file.parent(at), ast.BinOp | ast.Call | ast.Attribute):
        at = above
    if not isinstance(above, ast.Dict) or at not in above.keys:
        return None
    value = above.values[above.keys.index(at)]
    devices = (part.value for part in ast.walk(value) if isinstance(part, ast.Constant))
    return above if any(isinstance(text, str) and text.startswith(("cpu", "cuda", "npu")) for text in devices) else None


def _location(ref: StringRef, table: ast.Dict, file: PythonFile) -> Iterator[Remark]:
    """A key names the device a checkpoint was written on, which no edit of the program changes."""
    keys = "".join(file.text(key) for key in table.keys if key is not None)
    if "npu" in keys:
        return
    other = ref.value.replace("cuda", "npu")
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title=f'"{ref.value}" names the device in a checkpoint',
        detail="Checkpoints that a GPU wrote keep this name.",
        advice=f'leave it, and add the same entry for "{other}", which checkpoints of the NPU hold',
        outcome="manual" if file.options.style != "shim" else "note",
        confidence="inferred",
        minutes=3,
    )


RULE = Rule(
    code="device-strings",
    number="TW101",
    summary="A string names a CUDA device.",
    why="On an Ascend machine torch knows the device type npu; cuda raises 'Torch not compiled with CUDA enabled'.",
    before='model.to("cuda:0")',
    after='model.to("npu:0")',
    safety="safe",
    hooks=(StringHook(words=("cuda",), visit=_visit),),
)
