"""Calls of ``torch.cuda.amp`` in the form of ``torch.amp``, which takes the device type.

The signatures differ: ``autocast(enabled, dtype, cache_enabled)`` has the device type in front and another order behind
it, ``GradScaler`` takes it first, ``custom_fwd`` and ``custom_bwd`` by keyword.
"""

from __future__ import annotations

import ast

from trainwright.migrate.python.bound import BoundName
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.scopes import Binding
from trainwright.migrate.python.style import device_argument, torch_visible
from trainwright.migrate.python.usage import is_use
from trainwright.migrate.remark import Edit

MODULE = "torch.cuda.amp"
MEMBERS = frozenset({"autocast", "GradScaler", "custom_fwd", "custom_bwd"})
_SUBMODULES = ("autocast_mode", "grad_scaler")
_AUTOCAST = ("enabled", "dtype", "cache_enabled")


class CannotConvert(Exception):  # noqa: N818 - an answer, not an error
    """A use that cannot be written with torch.amp; the message says why."""


class NotReached(CannotConvert):
    """A branch for releases of torch without torch.amp."""


def member(dotted: str) -> str:
    """Which member of torch.amp a name below ``torch.cuda.amp`` is; empty for the module and for anything else."""
    parts = dotted.removeprefix(f"{MODULE}.").split(".")
    if parts[0] in _SUBMODULES:
        parts = parts[1:]
    return parts[0] if dotted.startswith(f"{MODULE}.") and len(parts) == 1 and parts[0] in MEMBERS else ""


def use_edits(file: PythonFile, node: ast.expr, name: str) -> list[Edit]:
    """What has to change around an expression that stands for a member, apart from its own spelling.

    Raises:
        CannotConvert: it is used in a way whose meaning is not known here.
    """
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        raise CannotConvert(f"{name} is replaced here")
    call, above = file.call_of(node), file.parent(node)
    if call is None and not is_use(NameRef(node=node, name=f"{MODULE}.{name}", confidence="resolved"), file):
        return []  # an annotation, an isinstance test: names a class, and torch.amp has it
    if file.options.style == "agnostic" and not torch_visible(file, node):
        raise CannotConvert("torch is not imported where this is used")
    device = device_argument(file)
    keyword = f"device_type={device}"
    if call is not None:
        if name == "autocast":
            return _autocast(file, call, device)
        return [_first(file, call, device)] if name == "GradScaler" else [_keyword(file, call, keyword)]
    if name.startswith("custom_") and node in getattr(above, "decorator_list", ()):
        return [_after(file, node, f"({keyword})")]
    first = isinstance(above, ast.Call) and above.args[:1] == [node] and file.named(above.func) == "functools.partial"
    if first and (name != "autocast" or len(getattr(above, "args", ())) == 1):
        return [_after(file, node, f", {keyword if name.startswith('custom_') else device}")]
    raise CannotConvert(f"{name} is handed on, not called")


def bound_edits(file: PythonFile, bound: BoundName, dotted: str) -> list[Edit]:
    """What has to change at all uses of a name that stands for ``torch.cuda.amp`` or a member of it.

    Raises:
        CannotConvert: a use, or the name itself, does not allow it.
    """
    if any(_is_torch_amp(file, other) for other in bound.others):
        raise NotReached("the other branch takes it from torch.amp")
    if bound.doubt:
        raise CannotConvert(bound.doubt)
    if bound.others:
        raise CannotConvert(f"{bound.name} is bound to something else, too")
    if dotted != MODULE and not member(dotted):
        raise CannotConvert(f"torch.amp has no {dotted.removeprefix(MODULE + '.')}")
    found: list[Edit] = []
    for use in bound.uses:
        node: ast.expr = use
        name = member(dotted)
        if dotted == MODULE:
            above = file.parent(use)
            name = member(f"{MODULE}.{above.attr}") if isinstance(above, ast.Attribute) else ""
            if not isinstance(above, ast.Attribute) or not name:
                raise CannotConvert(f"{bound.name} is used as a module, not only for its members")
            node = above
        found += use_edits(file, node, name)
    return found


def _is_torch_amp(file: PythonFile, binding: Binding) -> bool:
    if binding.kind == "import":
        return binding.target.startswith("torch.amp")
    nodes = ast.walk(binding.value) if binding.value is not None else ()
    return any(isinstance(node, ast.Attribute) and file.named(node).startswith("torch.amp.") for node in nodes)


def _autocast(file: PythonFile, call: ast.Call, device: str) -> list[Edit]:
    """The device type in front, and every positional argument by its name: torch.amp has another order."""
    if len(call.args) > len(_AUTOCAST) or any(isinstance(argument, ast.Starred) for argument in call.args):
        raise CannotConvert("which argument is which is not known before the call runs")
    if not call.args:
        return [_first(file, call, device)]
    text, (_, at) = file.source.text, file.chars(call.func)
    between = "("
    found = []
    for position, argument in enumerate(call.args):
        start, end = file.chars(argument)
        if text[at:start].strip() != between:
            raise CannotConvert("a comment or a bracket stands between its arguments")
        lead = "" if position else f"{device}, "
        found.append(_insert(file, start, f"{lead}{_AUTOCAST[position]}="))
        at, between = end, ","
    return found


def _first(file: PythonFile, call: ast.Call, argument: str) -> Edit:
    text, (_, at) = file.source.text, file.chars(call.func)
    at = text.index("(", at) + 1
    if not call.args and not call.keywords:
        return _insert(file, at, argument)
    return _insert(file, at, f"{argument}," if text[at] in "\r\n" else f"{argument}, ")


def _keyword(file: PythonFile, call: ast.Call, argument: str) -> Edit:
    if not call.args:
        return _first(file, call, argument)
    end = file.chars(call.args[-1])[1]
    rest = file.source.text[end : file.chars(call)[1] - 1].strip()
    if rest and not rest.startswith(","):
        raise CannotConvert("a comment or a bracket stands between its arguments")
    return _insert(file, end, f", {argument}")


def _after(file: PythonFile, node: ast.AST, text: str) -> Edit:
    return _insert(file, file.chars(node)[1], text)


def _insert(file: PythonFile, char: int, text: str) -> Edit:
    at = file.source.byte_at(char)
    return Edit(start=at, end=at, new=text)
