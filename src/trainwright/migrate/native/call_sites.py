"""Where a Python file uses native operators of its own project.

A place counts only when its name resolves: to ``torch.ops.library.operator`` of a ``TORCH_LIBRARY`` here, to a module
that an extension of this project builds, or to a variable that holds a loaded extension. An equal last name alone
(``loss.backward`` beside a bound ``backward``) never does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainwright.migrate.native.links import BUILD_NAME, VARIABLE, Links, Reach, links
from trainwright.migrate.project import Extension, NativeOperator
from trainwright.migrate.python.module import ImportRef, PythonFile
from trainwright.migrate.python.references import references
from trainwright.migrate.remark import Confidence

_OPS = "torch.ops."
_OPS_PARTS = 2


@dataclass(frozen=True, kw_only=True)
class CallSite:
    """One use of an operator that needs CUDA: the node, its name for people, and what is behind it."""

    node: ast.AST
    name: str
    operator: str
    reach: Reach
    confidence: Confidence


def native_imports(file: PythonFile) -> Iterator[tuple[ImportRef, str]]:
    """Imports of modules that an extension of the project builds from CUDA, with the name of the module."""
    ways = links(file.project)
    for imported in file.import_refs:
        found = _module_in(imported.name, ways)
        if found is not None and not found[1].module.startswith(VARIABLE) and _needs_cuda(ways, found[1]):
            yield imported, found[1].module


def call_sites(file: PythonFile) -> Iterator[CallSite]:
    """Every use of an operator that needs CUDA, in source order of its kind."""
    ways = links(file.project)
    if not ways.modules and not ways.bound:
        return
    for ref in references(file):
        if ref.name.startswith(_OPS):
            yield from _library_site(ways, ref.node, ref.name, ref.confidence)
        elif (found := _module_in(ref.name, ways)) is not None:
            yield from _module_site(ways, ref.node, ref.name, found, ref.confidence)
    yield from _variable_sites(file, ways)


def _library_site(ways: Links, node: ast.AST, name: str, confidence: Confidence) -> Iterator[CallSite]:
    parts = name[len(_OPS) :].split(".")
    if len(parts) < _OPS_PARTS:
        return
    library, operator = parts[:2]
    named = [item for item in ways.bound if item.kind == "library" and item.name == operator]
    found = [item for item in named if _is_library(item, library)]
    reaches = [reach for item in found if (reach := ways.of(item)).only_cuda]
    if reaches:
        sure = any(item.namespace == library for item in found)
        yield CallSite(
            node=node,
            name=f"{_OPS}{library}.{operator}",
            operator=operator,
            reach=reaches[0],
            confidence=confidence if sure else "inferred",
        )


def _is_library(operator: NativeOperator, library: str) -> bool:
    """Whether an operator belongs to ``torch.ops.library``; the build may give the library its name."""
    if BUILD_NAME not in operator.namespace:
        return operator.namespace == library
    end = operator.namespace.rpartition(BUILD_NAME)[2].strip(" ,)")
    return library.endswith(end)


def _module_site(
    ways: Links, node: ast.AST, name: str, found: tuple[str, Extension], confidence: Confidence
) -> Iterator[CallSite]:
    module, extension = found
    attribute = name[len(module) + 1 :].partition(".")[0]
    if attribute and (reach := _operator_reach(ways, extension, attribute)) is not None:
        yield CallSite(node=node, name=f"{module}.{attribute}", operator=attribute, reach=reach, confidence=confidence)


def _operator_reach(ways: Links, extension: Extension, attribute: str) -> Reach | None:
    """What an attribute of an extension module ends in; None when it needs no CUDA or is no operator."""
    operators = ways.operators_of(extension)
    if not operators:
        return Reach(cuda=False) if extension.cuda and not attribute.startswith("__") else None
    for operator in operators:
        if operator.name == attribute and (reach := ways.of(operator)).only_cuda:
            return reach
    return None


def _variable_sites(file: PythonFile, ways: Links) -> Iterator[CallSite]:
    """Uses of variables of this file that hold a loaded extension."""
    held = dict(_held(file, ways))
    for node in file.index.attributes if held else ():
        if isinstance(node.value, ast.Name) and node.value.id in held and file.resolve(node) is None:
            reach = _operator_reach(ways, held[node.value.id], node.attr)
            if reach is not None:
                name = f"{node.value.id}.{node.attr}"
                yield CallSite(node=node, name=name, operator=node.attr, reach=reach, confidence="inferred")


def _held(file: PythonFile, ways: Links) -> Iterator[tuple[str, Extension]]:
    """Variables that hold an extension: loaded here, or got from a helper by the name (``load_ext("_ext", ...)``)."""
    for extension in file.project.extensions:
        if extension.file == file.source.path and extension.module.startswith(VARIABLE):
            yield extension.module[len(VARIABLE) :], extension
    for node in file.tree.body if ways.module_ends else ():
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[ast.Constant(value=str(end)), *_])
            ):
                loads = (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")).startswith(
                    "load_ext"
                )
                found = [ext for module, ext in ways.modules.items() if module.rpartition(".")[2] == end]
                if loads and len(found) == 1:
                    yield name, found[0]


def _module_in(name: str, ways: Links) -> tuple[str, Extension] | None:
    """The extension whose module is `name` or above it, with the part of `name` that spells the module.

    A module of several parts is also found below the folder the sources stand in (``src.pkg._C`` is ``pkg._C``).
    """
    if ways.module_ends.isdisjoint(name.split(".")):
        return None
    modules, head = ways.modules, name
    while head:
        tail = head
        while tail:
            if tail in modules and (tail == head or "." in tail):
                return head, modules[tail]
            tail = tail.partition(".")[2]
        head = head.rpartition(".")[0]
    return None


def _needs_cuda(ways: Links, extension: Extension) -> bool:
    operators = ways.operators_of(extension)
    return any(ways.of(operator).only_cuda for operator in operators) if operators else extension.cuda
