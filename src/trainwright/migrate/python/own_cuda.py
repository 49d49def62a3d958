"""Classes of a project that define ``cuda()`` themselves: whose objects must not be moved by ``.npu()`` unseen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainwright.migrate.project import OwnCuda
from trainwright.migrate.python.kind_tables import MODULE_METHODS
from trainwright.migrate.python.names import module_name
from trainwright.migrate.python.scopes import Binding

if TYPE_CHECKING:
    from trainwright.migrate.python.module import PythonFile

_DEPTH = 8
#: A class: where it is defined in the file at hand, else its full dotted name.
_Class = ast.ClassDef | str


def defined(node: ast.ClassDef) -> ast.FunctionDef | None:
    """The ``cuda`` that a class defines; None also when it defines ``npu`` beside it, for then ``.npu()`` is right."""
    methods = {child.name: child for child in node.body if isinstance(child, ast.FunctionDef)}
    return methods.get("cuda") if "npu" not in methods else None


def mentioned(file: PythonFile) -> list[OwnCuda]:
    """The classes with a ``cuda()`` of their own that a file defines, imports or names."""
    found = [_owner(file, node, 0) for node in file.index.classes]
    if owners := file.project.defines_cuda:
        modules = {name.rpartition(".")[0] for name in owners}
        last = {owner.name for owner in owners.values()}
        for ref in file.import_refs:
            found.append(_owner(file, ref.name, 0))
            found += _within(file, ref.name.removesuffix(".*"), modules)
        for node in file.index.attributes:
            if node.attr in last and (name := file.named(node)):
                found.append(_owner(file, name, 0))
    return list(dict.fromkeys(filter(None, found)))


def _within(file: PythonFile, name: str, modules: set[str]) -> Iterator[OwnCuda]:
    """The classes of an imported module: what is used of it may be handed around unseen."""
    facts = file.project.modules.get(name) or file.project.module_ends.get(name)
    if facts is not None and facts.module in modules:
        for owner, found in file.project.defines_cuda.items():
            if owner.rpartition(".")[0] == facts.module:
                yield found


def holds(file: PythonFile, expr: ast.expr) -> OwnCuda | None:
    """The class with a ``cuda()`` of its own that a value may be an object of; None when it is known to be another."""
    classes = _classes(file, expr, 0)
    if classes is None:
        return next(iter(file.cuda_owners), None)
    return next(filter(None, (_owner(file, each, 0) for each in classes)), None)


def _owner(file: PythonFile, kind: _Class, depth: int) -> OwnCuda | None:
    """The class that gives the objects of a class their ``cuda()``, when that is one of the project."""
    if depth >= _DEPTH:
        return None
    if isinstance(kind, ast.ClassDef):
        if method := defined(kind):
            return OwnCuda(name=kind.name, file=file.source.path, line=method.lineno)
        bases: list[_Class] = [_local_class(file, base) or file.named(base) for base in kind.bases]
    else:
        name = file.names.own(kind)
        if found := file.project.defines_cuda.get(name):
            return found
        bases = list(file.project.classes.get(name, ()))
    return next(filter(None, (_owner(file, base, depth + 1) for base in bases if base)), None)


def _classes(file: PythonFile, expr: ast.expr, depth: int) -> set[_Class] | None:
    """The classes that a value can be of; None when that is not known."""
    if depth >= _DEPTH:
        return None
    if isinstance(expr, ast.Call):
        if isinstance(expr.func, ast.Attribute) and expr.func.attr in MODULE_METHODS and not file.named(expr.func):
            return _classes(file, expr.func.value, depth + 1)
        found = _class_of(file, expr.func)
        return {found} if found else None
    if isinstance(expr, ast.Name):
        scope = file.index.scopes[expr].lookup(expr.id)
        return _joined(
            [_bound(file, each, depth) for each in scope[1] if not _says_nothing(each, expr.id)] if scope else []
        )
    if isinstance(expr, ast.Attribute) and isinstance(expr.value, ast.Name) and expr.value.id == "self":
        owner = _enclosing(file, expr)
        stores = [
            value
            for target, value in file.index.stores.get(expr.attr, [])
            if _enclosing(file, target) is owner and not (isinstance(value, ast.Constant) and value.value is None)
        ]
        return _joined([_classes(file, value, depth + 1) if value is not None else None for value in stores])
    return None


def _joined(parts: list[set[_Class] | None]) -> set[_Class] | None:
    known = [part for part in parts if part is not None]
    return set().union(*known) if parts and len(known) == len(parts) else None


def _bound(file: PythonFile, binding: Binding, depth: int) -> set[_Class] | None:
    if binding.kind == "value" and binding.value is not None:
        return _classes(file, binding.value, depth + 1)
    if isinstance(binding.node, ast.arg):
        function = file.parent(file.parent(binding.node) or binding.node)
        owner = file.parent(function) if function is not None else None
        if isinstance(owner, ast.ClassDef) and binding.node.arg == "self":
            return {owner}
    return None


def _says_nothing(binding: Binding, name: str) -> bool:
    """``x = None`` and ``x = x.cuda()`` leave the class of x as it is."""
    value: ast.expr | None = binding.value
    if isinstance(value, ast.Constant):
        return value.value is None
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in MODULE_METHODS:
        value = value.func.value
    return value is not binding.value and isinstance(value, ast.Name) and value.id == name


def _class_of(file: PythonFile, called: ast.expr) -> _Class | None:
    """The class that a call makes an object of."""
    if local := _local_class(file, called):
        return local
    name = file.named(called)
    if name.startswith("torch.") and name.rpartition(".")[2][:1].isupper():
        return name
    own = file.names.own(name) if name else ""
    return own if own in file.project.classes else None


def _local_class(file: PythonFile, node: ast.expr) -> ast.ClassDef | None:
    bindings = file.bindings(node) if isinstance(node, ast.Name) and node in file.index.scopes else []
    found = bindings[0].node if len(bindings) == 1 else None
    return found if isinstance(found, ast.ClassDef) else None


def _enclosing(file: PythonFile, node: ast.AST) -> ast.ClassDef | None:
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.ClassDef):
        at = file.parent(at)
    return at


def learned(file: PythonFile) -> dict[str, OwnCuda]:
    """What other files must know: full name of a class of this file -> its ``cuda()``."""
    module, path = module_name(file.source.path), file.source.path
    return {
        f"{module}.{node.name}": OwnCuda(name=node.name, file=path, line=method.lineno)
        for node in file.index.classes
        if (method := defined(node))
    }
