"""TW201: mixed precision through torch.cuda.amp."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NoReturn

from trainwright.migrate.python.amp import MODULE, CannotConvert, NotReached, bound_edits, member, use_edits
from trainwright.migrate.python.bound import bound, bound_name
from trainwright.migrate.python.edits import argument_insert, carrier, remark, rename_alias, rename_attribute
from trainwright.migrate.python.imports import module_edit
from trainwright.migrate.python.module import ImportRef, NameRef, PythonFile
from trainwright.migrate.python.style import device_argument, torch_visible
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import ImportHook, NameHook, Rule

#: Function of torch -> (the one that takes the device type, number of arguments with which it speaks of CUDA).
_STATE = {
    "torch.get_autocast_gpu_dtype": ("get_autocast_dtype", 0),
    "torch.set_autocast_gpu_dtype": ("set_autocast_dtype", 1),
    "torch.is_autocast_enabled": ("is_autocast_enabled", 0),
    "torch.set_autocast_enabled": ("set_autocast_enabled", 1),
}


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    """A place that spells ``torch.cuda.amp`` itself; names that an import or an assignment binds come with that."""
    spelled, module = carrier(file, ref.node, "torch.cuda"), carrier(file, ref.node, MODULE)
    if isinstance(spelled, ast.Attribute) and isinstance(module, ast.Attribute):
        yield _said(ref.node, ref.name, file, lambda: _spelled(ref, spelled, module, file))
    elif spelled is not None:
        yield _said(ref.node, ref.name, file, lambda: _refuse("the name is put together at run time"))
    elif module is None and ref.call is not None and _comes_from_the_project(ref, file):
        yield _said(ref.node, ref.name, file, lambda: _refuse("another file of this project imports it from torch"))


def _spelled(ref: NameRef, spelled: ast.Attribute, module: ast.Attribute, file: PythonFile) -> list[Edit]:
    assert isinstance(ref.node, ast.Attribute)
    above = file.parent(ref.node)
    if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        around = bound_edits(file, bound(file, above, above.targets[0].id), ref.name)
    elif name := member(ref.name):
        around = use_edits(file, ref.node, name)
    else:
        _refuse(f"torch.amp has no {ref.name.removeprefix(MODULE).lstrip('.') or 'module of that kind'}")
    last = module if ref.name == MODULE else ref.node.value
    return [Edit(start=file.span(spelled.value)[1], end=file.span(last)[1], new=".amp"), *around]


def _comes_from_the_project(ref: NameRef, file: PythonFile) -> bool:
    """Whether the name is imported here from another file of the project, which imports it from torch."""
    root: ast.AST = ref.node
    while isinstance(root, ast.Attribute):
        root = root.value
    bindings = file.bindings(root) if isinstance(root, ast.Name) else []
    imports = [binding for binding in bindings if binding.kind == "import"]
    return bool(imports) and not any(binding.target.startswith("torch") for binding in imports)


def _refuse(why: str) -> NoReturn:
    raise CannotConvert(why)


def _import(ref: ImportRef, file: PythonFile) -> Iterator[Remark]:
    """``from torch.cuda.amp import autocast`` and ``import torch.cuda.amp as amp``, with all their uses."""
    node, alias = ref.node, ref.alias
    if isinstance(node, ast.Import):
        if alias.name == MODULE:
            yield _said(alias, MODULE, file, lambda: _module_alias(alias, file))
    elif alias is node.names[0] and not node.level and f"{node.module}.".startswith(f"{MODULE}."):
        yield _said(node, ref.name, file, lambda: _from_import(node, file))


def _module_alias(alias: ast.alias, file: PythonFile) -> list[Edit]:
    around = bound_edits(file, bound_name(file, alias), MODULE) if alias.asname else []
    return [rename_alias(file, alias, "torch.amp"), *around]


def _from_import(node: ast.ImportFrom, file: PythonFile) -> list[Edit]:
    edit = module_edit(file, node, "torch.amp") or _refuse("the module is spelled in pieces")
    found = [edit]
    for alias in node.names:
        if alias.name == "*":
            _refuse("it does not say which names it imports")
        found += bound_edits(file, bound_name(file, alias), f"{node.module}.{alias.name}")
    return found


def _state(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    """Functions of torch that ask or set what autocast does on CUDA devices."""
    new, count = _STATE[ref.name]
    call = ref.call
    if call is None and ref.name.endswith("_gpu_dtype"):
        yield _said(ref.node, ref.name, file, lambda: _refuse("the function is handed on, not called"))
    elif call is not None and len(call.args) + len(call.keywords) == count and not any(map(_is_starred, call.args)):
        yield _said(ref.node, ref.name, file, lambda: _state_edits(ref, call, new, file))


def _state_edits(ref: NameRef, call: ast.Call, new: str, file: PythonFile) -> list[Edit]:
    if not isinstance(ref.node, ast.Attribute):
        _refuse("the name is imported by itself")
    if call.keywords:
        _refuse("torch wants the device type before the named arguments")
    if file.options.style == "agnostic" and not torch_visible(file, ref.node):
        _refuse("torch is not imported where this is used")
    rename = [rename_attribute(file, ref.node, new)] if ref.node.attr != new else []
    return [*rename, argument_insert(file, call, device_argument(file))]


def _is_starred(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Starred)


def _said(node: ast.AST, name: str, file: PythonFile, edits: Callable[[], list[Edit]]) -> Remark:
    title = f"mixed precision of CUDA: {name}"
    fields = {"number": RULE.number, "title": title, "name": name, "evidence": "torch_npu 2.8 API support table"}
    if file.options.style == "shim":
        return remark(file, node, outcome="note", detail="transfer_to_npu puts torch_npu.npu.amp here.", **fields)
    try:
        found = tuple(edits())
    except NotReached as reason:
        why = f"Nothing to do: {reason}, which torch has since 2.4."
        return remark(file, node, outcome="note", detail=why, **fields)
    except CannotConvert as reason:
        why, way = f"Not rewritten: {reason}.", _advice(name, file)
        return remark(file, node, outcome="manual", detail=why, advice=way, minutes=3, **fields)
    return remark(file, node, safety="safe", edits=found, registers=True, **fields)


def _advice(name: str, file: PythonFile) -> str:
    device = device_argument(file)
    if name in _STATE:
        return f"write torch.{_STATE[name][0]} with {device} as its first argument"
    if name.endswith(("custom_fwd", "custom_bwd")):
        return f"take it from torch.amp and give it device_type={device}"
    same = "; torch_npu.npu.amp has the same names with the old arguments" if file.options.style == "npu" else ""
    return f"take it from torch.amp and pass {device} as its first argument wherever it is called{same}"


RULE = Rule(
    code="amp",
    number="TW201",
    summary="Mixed precision is switched on for CUDA.",
    why="torch.cuda.amp casts what runs on CUDA devices only: on an NPU the model would train in float32, and slowly. "
    "torch.amp takes the device type. The order of its arguments differs, so positional ones get their names.",
    before="with torch.cuda.amp.autocast(True, torch.bfloat16): ...",
    after='with torch.amp.autocast("npu", enabled=True, dtype=torch.bfloat16): ...',
    safety="safe",
    hooks=(
        NameHook(names=(f"{MODULE}.*",), visit=_visit),
        NameHook(names=tuple(_STATE), visit=_state),
        ImportHook(roots=("torch",), visit=_import),
    ),
)
