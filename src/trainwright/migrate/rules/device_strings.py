"""TW101: strings that name a CUDA device and reach something that takes a device."""

from __future__ import annotations

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
