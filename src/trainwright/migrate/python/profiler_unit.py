"""The profiler of torch in one file, moved to torch_npu.profiler as a whole or not at all.

The two do not mix: each has its own ``ProfilerActivity`` and ``ProfilerAction``, so a schedule or a list of activities
of one is not understood by the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.bound import bound_name
from trainwright.migrate.python.edits import carrier, rename_attribute, replace
from trainwright.migrate.python.imports import module_edit, split, written
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.references import references
from trainwright.migrate.python.usage import is_use
from trainwright.migrate.remark import Edit

_MODULE = "torch.profiler"
_NPU_MODULE = "torch_npu.profiler"
#: Names of torch.profiler that torch_npu.profiler has (names in the wheel of torch_npu 2.8.0.post5).
_TAKEN = frozenset({"profile", "ProfilerActivity", "ProfilerAction", "schedule", "tensorboard_trace_handler"})
#: Keyword arguments that torch_npu.profiler takes, too.
_KEYWORDS = {
    "profile": {"activities", "schedule", "on_trace_ready", "record_shapes", "profile_memory", "with_stack"}
    | {"with_flops", "with_modules", "use_cuda"},
    "schedule": {"wait", "warmup", "active", "repeat", "skip_first"},
    "tensorboard_trace_handler": {"dir_name", "worker_name"},
}
#: Methods of the profiler of torch that the one of torch_npu lacks (support table).
_MISSING = frozenset({"key_averages", "events", "toggle_collection_dynamic", "preset_metadata_json"})


class Held(Exception):  # noqa: N818 - an answer, not an error
    """The profiler of this file cannot move; the message says why."""


def profiler_refs(file: PythonFile) -> list[NameRef]:
    """References to what torch_npu.profiler has under the same name."""
    return [ref for ref in references(file) if _part(ref.name, 0) in _TAKEN and ref.name.startswith(f"{_MODULE}.")]


def _part(name: str, place: int) -> str:
    parts = name.removeprefix(f"{_MODULE}.").split(".")
    return parts[place] if place < len(parts) else ""


def wants_device(ref: NameRef) -> bool:
    """Whether a reference asks for a profile of the device: the activity of CUDA, or all there are."""
    if ref.name == f"{_MODULE}.ProfilerActivity.CUDA":
        return True
    given = {keyword.arg for keyword in ref.call.keywords} if ref.call else {None}
    return ref.name == f"{_MODULE}.profile" and not given & {"activities", None}


def unit_edits(file: PythonFile, refs: list[NameRef]) -> list[Edit]:
    """All edits that move the profiler of a file.

    Raises:
        Held: something stands in the way.
    """
    if not any(ref.name == f"{_MODULE}.profile" and ref.call for ref in refs):
        raise Held("the activities are handed to a profiler elsewhere")
    _check_methods(file)
    imported: set[str] = set()
    edits: list[Edit] = []
    for statement in file.index.imports:
        if isinstance(statement, ast.ImportFrom) and statement.module == _MODULE and not statement.level:
            names = [alias for alias in statement.names if alias.name in _TAKEN]
            imported.update(alias.asname or alias.name for alias in names)
            edits += _import_edits(file, statement, names)
    for ref in refs:
        _check(file, ref)
        if ref.name == f"{_MODULE}.profile" and ref.call is not None:
            _check_stays(file, ref.call, 0)
        edits += _spelling(file, ref, imported)
    return edits


def _check_methods(file: PythonFile) -> None:
    for node in file.index.attributes:
        call = file.call_of(node)
        if call is None or file.named(node):
            continue
        if node.attr in _MISSING:
            raise Held(f"torch_npu.profiler has no {node.attr}()")
        packed = [path for path in call.args if file.text(path).rstrip("'\"").endswith(".gz")]
        if node.attr == "export_chrome_trace" and packed:
            raise Held("export_chrome_trace() of torch_npu.profiler takes names that end in .json only")


def _import_edits(file: PythonFile, node: ast.ImportFrom, names: list[ast.alias]) -> list[Edit]:
    for alias in names:
        known = bound_name(file, alias)
        if known.doubt or known.others:
            raise Held(known.doubt or f"{known.name} is bound to something else, too")
    if not names:
        return []
    stay = [written(alias, alias.name) for alias in node.names if alias not in names]
    moved = [written(alias, alias.name) for alias in names]
    edit = split(file, node, [(_NPU_MODULE, moved), (_MODULE, stay)]) if stay else module_edit(file, node, _NPU_MODULE)
    if edit is None:
        raise Held("a comment inside the import would be lost")
    return [edit]


def _spelling(file: PythonFile, ref: NameRef, imported: set[str]) -> Iterator[Edit]:
    module = carrier(file, ref.node, _MODULE)
    if isinstance(module, ast.Attribute):
        yield replace(file, module, _NPU_MODULE)
    else:
        root: ast.AST = ref.node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in imported:
            raise Held("a name of torch.profiler is bound by more than its import")
    if ref.name == f"{_MODULE}.ProfilerActivity.CUDA":
        if not isinstance(ref.node, ast.Attribute):
            raise Held("an activity is kept in a variable")
        yield rename_attribute(file, ref.node, "NPU")


def _check(file: PythonFile, ref: NameRef) -> None:
    """Whether one reference would mean the same."""
    name = _part(ref.name, 0)
    if name == "ProfilerActivity" and _part(ref.name, 1) not in ("CPU", "CUDA", ""):
        raise Held(f"torch_npu.profiler has no {name}.{_part(ref.name, 1)}")
    if name == "ProfilerAction" or _part(ref.name, 1):
        return
    if ref.call is None:
        if is_use(ref, file):
            raise Held(f"{name} is handed on, not called")
        return
    for keyword in ref.call.keywords:
        if keyword.arg is None:
            raise Held(f"the arguments of {name} are not known before the call runs")
        if keyword.arg not in _KEYWORDS.get(name, ()):
            raise Held(f"{name} of torch_npu.profiler has no {keyword.arg}")
        if keyword.arg in ("activities", "schedule", "on_trace_ready") and not _is_known(file, keyword.value, 0):
            raise Held(f"where {keyword.arg} comes from is not known here")
    if len(ref.call.args) > 2 or any(isinstance(argument, ast.Starred) for argument in ref.call.args):
        raise Held(f"the positional arguments of {name} have another order")


def _check_stays(file: PythonFile, value: ast.expr, depth: int) -> None:
    """Whether a profile is used in this file alone: elsewhere somebody may ask it for what it does not have."""
    above = file.parent(value)
    if isinstance(above, ast.IfExp | ast.NamedExpr):
        _check_stays(file, above, depth)
    elif isinstance(above, ast.Call | ast.keyword | ast.Return | ast.Yield):
        raise Held("the profile is handed to code that is not seen here")
    targets: list[ast.expr | None] = []
    if isinstance(above, ast.Assign):
        targets = list(above.targets)
    elif isinstance(above, ast.withitem):
        targets = [above.optional_vars]
    for target in targets:
        found = file.scope(target).lookup(target.id) if isinstance(target, ast.Name) else None
        if found is not None and isinstance(target, ast.Name) and depth < 4:
            for use in file.uses.get((found[0], target.id), []):
                _check_stays(file, use, depth + 1)


def _is_known(file: PythonFile, value: ast.expr, depth: int) -> bool:
    """Whether a value is made in this file: then it is seen, and moves with the rest."""
    if depth > 4:
        return False
    if isinstance(value, ast.Name):
        bindings = file.bindings(value)
        kinds = {binding.kind for binding in bindings}
        values = [binding.value for binding in bindings if binding.kind == "value" and binding.value is not None]
        return (
            bool(bindings) and kinds <= {"value", "function"} and all(_is_known(file, one, depth + 1) for one in values)
        )
    if isinstance(value, ast.Attribute):
        if file.named(value).startswith(f"{_MODULE}.ProfilerActivity."):
            return True
        stores = [one for target, one in file.index.stores.get(value.attr, []) if one is not None]
        return bool(stores) and all(_is_known(file, one, depth + 1) for one in stores)
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return all(_is_known(file, one, depth + 1) for one in value.elts)
    if isinstance(value, ast.BinOp):
        return _is_known(file, value.left, depth + 1) and _is_known(file, value.right, depth + 1)
    if isinstance(value, ast.IfExp):
        return _is_known(file, value.body, depth + 1) and _is_known(file, value.orelse, depth + 1)
    if isinstance(value, ast.Call):
        return _part(file.named(value.func), 0) in _TAKEN
    return isinstance(value, ast.Lambda | ast.Constant)
