"""TW108: imports from torch.cuda."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.knowledge.cuda_names import EXCEPTIONS, is_private, npu_attribute, npu_counterpart
from trainwright.migrate.python.amp import MODULE as AMP
from trainwright.migrate.python.amp import CannotConvert, bound_edits
from trainwright.migrate.python.bound import bound_name
from trainwright.migrate.python.edits import remark, rename_alias, rename_attribute
from trainwright.migrate.python.imports import alias_edit, module_edit, split, written
from trainwright.migrate.python.module import ImportRef, PythonFile
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import ImportHook, Rule

_CUDA = "torch.cuda"
_NVTX = "torch.cuda.nvtx"
_EVIDENCE = "public names of torch_npu.npu, torch_npu 2.8"


def _visit(ref: ImportRef, file: PythonFile) -> Iterator[Remark]:
    """One import; a ``from`` import as a whole, with its first name."""
    node, alias = ref.node, ref.alias
    if not _below(ref.name, _CUDA) or _below(ref.name, _NVTX) or (isinstance(node, ast.ImportFrom) and node.level):
        return
    if isinstance(node, ast.Import):
        if not _below(ref.name, AMP) and (alias.asname or file.options.style == "npu"):
            yield _module(ref, alias.name, file)
    elif node.module == "torch":
        yield _module(ref, _CUDA, file)
    elif not _below(node.module or "", AMP) and _first(ref, file):
        yield from _names(node, ref, file)


def _below(name: str, lead: str) -> bool:
    return name == lead or name.startswith(f"{lead}.")


def _first(ref: ImportRef, file: PythonFile) -> bool:
    """Whether no name before this one in its statement is spoken of here: nvtx has a rule of its own."""
    assert isinstance(ref.node, ast.ImportFrom)
    ours = (alias for alias in ref.node.names if not _below(file.imported(ref.node, alias), _NVTX))
    return next(ours, None) is ref.alias


def _module(ref: ImportRef, name: str, file: PythonFile) -> Remark:
    """``import torch.cuda as tc``, ``from torch import cuda``: moves when torch.npu has all that is used of it."""
    alias = ref.alias
    if file.options.style != "npu":
        return _stays(alias, name, file)
    if isinstance(ref.node, ast.Import) and not alias.asname:
        new = "torch_npu.npu" if _imports_torch_before(alias, file) else "torch"
        return _moves(alias, name, file, [rename_alias(file, alias, new)])
    target, known = npu_counterpart(name), bound_name(file, alias)
    attributes = [found for use in known.uses for found in _attributes(file, use, name)]
    missing = sorted({dotted for _, dotted in attributes if npu_attribute(dotted) is None})
    why = known.doubt or ("the name is bound twice" if known.others else "")
    if target is None or missing:
        why = f"the NPU has no {', '.join(missing or [name])}"
    if why or target is None:
        return _left(alias, name, file, f"Not rewritten: {why}.")
    renamed = [
        rename_attribute(file, node, new)
        for node, dotted in attributes
        if (new := (npu_attribute(dotted) or "").rpartition(".")[2]) != node.attr
    ]
    if isinstance(ref.node, ast.ImportFrom):
        return _moves(alias, name, file, [*_out_of_torch(ref.node, alias, file), *renamed])
    return _moves(alias, name, file, [rename_alias(file, alias, target), *renamed])


def _imports_torch_before(alias: ast.alias, file: PythonFile) -> bool:
    """Whether ``torch`` is bound without the import at hand, which may then go away."""
    found = file.scope(alias).lookup("torch")
    bindings = found[1] if found else []
    return any(
        isinstance(other.node, ast.alias) and other.kind == "import" and other.node.lineno < alias.lineno
        for other in bindings
    )


def _out_of_torch(node: ast.ImportFrom, alias: ast.alias, file: PythonFile) -> list[Edit]:
    """``from torch import cuda, nn`` in two statements; in one, with torch.npu, when a comment would be lost."""
    others = [written(other, other.name) for other in node.names if other is not alias]
    edit = split(file, node, [("torch", others), ("torch_npu", [written(alias, "npu")])]) if others else None
    if edit is not None:
        return [edit]
    module = module_edit(file, node, "torch_npu") if not others else None
    return [alias_edit(file, alias, "npu"), *([module] if module else [])]


def _attributes(file: PythonFile, use: ast.expr, name: str) -> Iterator[tuple[ast.Attribute, str]]:
    """The attributes read along a chain that begins with the module, as far as they are names of torch."""
    above = file.parent(use)
    while isinstance(above, ast.Attribute) and name.count(".") < 3:
        name = f"{name}.{above.attr}"
        yield above, name
        above = file.parent(above)


def _names(node: ast.ImportFrom, ref: ImportRef, file: PythonFile) -> Iterator[Remark]:
    """``from torch.cuda import A, B``: names that are on the NPU from there, the others from where they are."""
    if file.options.style != "npu":
        yield _stays(node, ref.name, file)
        return
    module = node.module or ""
    moved: dict[str, list[tuple[ast.alias, str]]] = {}
    stay, around = [], []
    for alias in node.names:
        dotted = f"{module}.{alias.name}"
        try:
            target, edits = _target(alias, dotted, file)
        except CannotConvert as reason:
            stay.append(alias)
            yield _left(alias, dotted, file, f"Not rewritten: {reason}.")
            continue
        around += edits
        if target is None:
            stay.append(alias)
            if not _below(dotted, _NVTX) and alias.name not in EXCEPTIONS:
                yield _missing(alias, dotted, ref, file)
        else:
            moved.setdefault(target.rpartition(".")[0], []).append((alias, target.rpartition(".")[2]))
    if moved:
        found = _moved(file, node, moved, stay)
        yield (
            _moves(node, ref.name, file, [*found, *around])
            if found
            else _left(node, ref.name, file, "Not rewritten: a comment inside the statement would be lost.")
        )


def _target(alias: ast.alias, dotted: str, file: PythonFile) -> tuple[str | None, list[Edit]]:
    """Where a name is to be imported from, and what has to change where it is used."""
    if alias.name == "*":
        raise CannotConvert("it does not say which names it imports")
    if dotted == AMP:
        return "torch.amp", bound_edits(file, bound_name(file, alias), AMP)
    return npu_counterpart(dotted), []


def _moved(
    file: PythonFile, node: ast.ImportFrom, moved: dict[str, list[tuple[ast.alias, str]]], stay: list[ast.alias]
) -> list[Edit]:
    """The edits of the statement: another module when one is enough for all names, else several statements."""
    if len(moved) == 1 and not stay:
        ((module, names),) = moved.items()
        edit = module_edit(file, node, module)
        renamed = [alias_edit(file, alias, name) for alias, name in names if alias.name != name]
        return [edit, *renamed] if edit else []
    parts = [(module, [written(alias, name) for alias, name in names]) for module, names in moved.items()]
    left = [(node.module or "", [written(alias, alias.name) for alias in stay])] if stay else []
    edit = split(file, node, [*parts, *left])
    return [edit] if edit else []


def _missing(alias: ast.alias, dotted: str, ref: ImportRef, file: PythonFile) -> Remark:
    """A name without counterpart; about private names and imports for typing alone the lists say nothing."""
    private = is_private(dotted)
    return remark(
        file,
        alias,
        number=RULE.number,
        title=f"import of the private name {dotted}" if private else f"{dotted} has no counterpart in torch.npu",
        detail="The name is private: torch_npu may have it, its lists of public names do not say." if private else "",
        name=dotted,
        advice="use the public function of torch.npu that does the same" if private else "remove what uses it, or "
        "guard it so that it runs on CUDA only",
        outcome="note" if ref.typing_only else "manual" if private or ref.guarded else "blocked",
        minutes=0 if ref.typing_only else 20,
        evidence=_EVIDENCE,
    )  # fmt: skip


def _moves(node: ast.AST, name: str, file: PythonFile, edits: list[Edit]) -> Remark:
    """No import of torch_npu is needed besides: what is written here imports it."""
    return remark(
        file, node, number=RULE.number, title=f"import of {name}", name=name, safety="safe", edits=tuple(edits),
        evidence=_EVIDENCE,
    )  # fmt: skip


def _left(node: ast.AST, name: str, file: PythonFile, detail: str) -> Remark:
    return remark(
        file, node, number=RULE.number, title=f"import of {name}", name=name, detail=detail, outcome="manual",
        advice="import what the NPU has from torch_npu.npu, and guard the rest so that it runs on CUDA only", minutes=5,
    )  # fmt: skip


def _stays(node: ast.AST, name: str, file: PythonFile) -> Remark:
    """What the other styles say: the shim replaces the module at run time, torch.accelerator has other names."""
    shim = file.options.style == "shim"
    return remark(
        file, node, number=RULE.number, title=f"import of {name}", name=name,
        detail="transfer_to_npu puts torch_npu.npu in its place; import it before this." if shim else "",
        advice="" if shim else "import torch.accelerator, or take the module from torch.get_device_module()",
        outcome="note" if shim else "manual", minutes=0 if shim else 5,
    )  # fmt: skip


RULE = Rule(
    code="cuda-imports",
    number="TW108",
    summary="Names are imported from torch.cuda.",
    why="What is imported by itself stays bound to CUDA wherever it is used. Names that torch.npu has come from there; "
    "names that it lacks stay behind in a statement of their own, to be dealt with one by one.",
    before="from torch.cuda import Event, nccl, synchronize",
    after="from torch_npu.npu import Event, synchronize\nfrom torch.cuda import nccl",
    safety="safe",
    hooks=(ImportHook(roots=("torch",), visit=_visit),),
)
