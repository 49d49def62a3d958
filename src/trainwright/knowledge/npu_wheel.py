"""The public names of torch_npu and the operators it registers, read out of its wheel without running it."""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

#: Modules whose names stand in for those of torch; compilers, tests and private parts are not among them.
_WANTED = re.compile(
    r"torch_npu/(__init__|(npu|npu/amp|optim|contrib|contrib/function|contrib/module|distributed|profiler|utils)/\w+)\.py"
)
_MOST_MEMBER_BYTES = 8 << 20

_OPERATORS = re.compile(r"torch_npu/csrc/aten/npu_native_functions\w*\.yaml")
_SECTION = re.compile(r"([a-z_]+):")
#: ``- abs``, ``- func: npu_max.dim(Tensor self, ...) -> ...``, and ``func:`` after another key.
_OPERATOR = re.compile(r"\s*(?:- )?func: ([\w.]+)|\s*- ([\w.]+)$")
#: Section of the list of operators -> kind; other sections repeat what these say.
_KINDS = {"supported": "aten", "custom": "custom", "symint": "custom", "quant": "aten"}


def wheel_names(wheel: Path) -> list[str]:
    """Dotted names: modules, what ``__all__`` lists, and what is defined or imported by name at the top of a module."""
    found: set[str] = set()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if _WANTED.fullmatch(member.filename) and member.file_size <= _MOST_MEMBER_BYTES:
                module = member.filename.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
                if "._" not in module:
                    found.add(module)
                    package = member.filename.endswith("__init__.py")
                    names = _names(ast.parse(archive.read(member)), module=module, imports=package)
                    found.update(f"{module}.{name}" for name in names if _is_kept(module, name))
    return sorted(name for name in found if name != "torch_npu")


def wheel_operators(wheel: Path) -> list[tuple[str, str]]:
    """``(kind, overload)`` of every operator with a kernel: ``aten`` for torch, ``custom`` for the NPU's own."""
    found: set[tuple[str, str]] = set()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if _OPERATORS.fullmatch(member.filename) and member.file_size <= _MOST_MEMBER_BYTES:
                found.update(_operators(archive.read(member).decode("utf-8")))
    torch_own = {overload for kind, overload in found if kind == "aten"}
    return sorted((kind, overload) for kind, overload in found if kind == "aten" or overload not in torch_own)


def _operators(text: str) -> Iterator[tuple[str, str]]:
    kind = ""
    for line in text.splitlines():
        if section := _SECTION.match(line):
            kind = _KINDS.get(section.group(1), "")
        elif kind and (operator := _OPERATOR.match(line)):
            yield kind, operator.group(1) or operator.group(2)


def _is_kept(module: str, name: str) -> bool:
    """Private names are left out, but for those of the memory module: torch.cuda.memory has the same, and users."""
    return not name.startswith("_") or (module == "torch_npu.npu.memory" and not name.startswith("__"))


def _names(tree: ast.Module, *, module: str, imports: bool) -> Iterator[str]:
    """Names a module binds for its users; what a package imports counts where it is torch_npu's own."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield name
                # ``torch_npu.npu.mstx`` is the class that the module of this name defines: the package binds it.
                if module.endswith(f".{name}"):
                    yield from (inner.name for inner in node.body if isinstance(inner, ast.FunctionDef))
            case ast.FunctionDef(name=name):
                yield name
            case ast.ImportFrom() if imports and (node.level or (node.module or "").startswith("torch_npu")):
                yield from (alias.asname or alias.name for alias in node.names if alias.name != "*")
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
                yield from _strings(node.value)
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def _strings(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
