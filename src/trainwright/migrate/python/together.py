"""Edits that are right only together: a device given to a function of torch.cuda moves when the function moves."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from trainwright.migrate.python.edits import carrier
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.remark import Remark, Safety

_DEVICE_STRINGS = "TW101"


def together(file: PythonFile, remarks: Iterable[Remark]) -> list[Remark]:
    """The remarks, without those on device strings inside the arguments of a call of torch.cuda that stays.

    Where the edit of the call is held back, that of the string is, too.
    """
    found = list(remarks)
    strings = [remark for remark in found if remark.number == _DEVICE_STRINGS and remark.edits]
    if not strings:
        return found
    changed: dict[Remark, Remark | None] = {}
    for call in file.index.calls:
        inside = [remark for remark in strings if _is_argument(file, remark, call)] if _is_of_cuda(file, call) else []
        if not inside:
            continue
        safety = _moved(file, call, found)
        for remark in inside:
            if safety is None:
                changed[remark] = None
            elif safety == "unsafe" and remark.safety == "safe":
                changed[remark] = replace(remark, safety="unsafe", detail="The call it is given to is held back.")
    kept = (changed.get(remark, remark) for remark in found)
    return [remark for remark in kept if remark is not None]


def _is_of_cuda(file: PythonFile, call: ast.Call) -> bool:
    return bool(call.args or call.keywords) and file.named(call.func).startswith("torch.cuda.")


def _is_argument(file: PythonFile, remark: Remark, call: ast.Call) -> bool:
    return file.span(call.func)[1] <= remark.start < file.span(call)[1]


def _moved(file: PythonFile, call: ast.Call, remarks: list[Remark]) -> Safety | None:
    """How sure the edit is that makes a function of torch.cuda one of another device; None: there is none."""
    spelled = carrier(file, call.func, "torch.cuda")
    at = spelled if spelled is not None else _binding(file, call.func)
    if at is None:
        return None
    start, end = file.span(at)
    found = {
        remark.safety for remark in remarks for edit in remark.edits if start <= edit.start < end and edit.end > start
    }
    return "safe" if "safe" in found else "unsafe" if "unsafe" in found else None


def _binding(file: PythonFile, func: ast.expr) -> ast.stmt | None:
    """The statement that gives a function its name here: an import, or an alias."""
    while isinstance(func, ast.Attribute):
        func = func.value
    bindings = file.bindings(func) if isinstance(func, ast.Name) and func in file.index.scopes else []
    return file.statement(bindings[0].node) if bindings else None
