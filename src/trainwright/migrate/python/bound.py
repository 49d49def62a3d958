"""Names that a file binds by imports: every place that reads one, when all of them are known."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.names import module_name
from trainwright.migrate.python.scopes import Binding


@dataclass(frozen=True, kw_only=True)
class BoundName:
    """A name in a file.

    Args:
        name: the name.
        uses: the expressions that read it.
        others: further ways it gets a value, apart from None.
        doubt: why not all places that read it are in `uses`; empty when they are.
    """

    name: str
    uses: tuple[ast.Name, ...]
    others: tuple[Binding, ...]
    doubt: str


def bound_name(file: PythonFile, alias: ast.alias, *, plain_root: bool = False) -> BoundName:
    """What an import binds. With `plain_root` the alias stands in ``import a.b``, which binds ``a``."""
    root = alias.name.partition(".")[0] if plain_root else alias.name
    return bound(file, alias, alias.asname or root)


def bound(file: PythonFile, node: ast.AST, name: str) -> BoundName:
    """The name that `node`, an alias or an assignment, binds."""
    found = file.scope(node).lookup(name)
    assert found is not None, f"{name} is bound nowhere"
    scope, bindings = found
    others = tuple(binding for binding in bindings if binding.node is not node and not _is_none(binding))
    doubt = ""
    if scope.kind == "class":
        doubt = f"{name} is an attribute of a class"
    elif scope is file.index.module and name in _public(file):
        doubt = f"{name} is listed in __all__, others may import it from here"
    elif scope is file.index.module and _is_imported_elsewhere(file, name):
        doubt = "another file of this project imports it from here"
    return BoundName(name=name, uses=tuple(file.uses.get((scope, name), ())), others=others, doubt=doubt)


def chain(file: PythonFile, node: ast.expr) -> ast.expr:
    """The largest dotted expression that begins with a node: ``cuda.amp.autocast`` for its ``cuda``."""
    above = file.parent(node)
    while isinstance(above, ast.Attribute):
        node, above = above, file.parent(above)
    return node


def _is_none(binding: Binding) -> bool:
    value = binding.value
    return binding.kind == "value" and isinstance(value, ast.Constant) and value.value is None


def _public(file: PythonFile) -> set[str]:
    """The names in ``__all__``, as far as they stand there as strings."""
    bindings = file.index.module.bindings.get("__all__", [])
    values = (binding.value for binding in bindings if binding.value is not None)
    return {
        node.value
        for value in values
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _is_imported_elsewhere(file: PythonFile, name: str) -> bool:
    own = module_name(file.source.path)
    if file.source.name == "__init__.py" and not file.uses.get((file.index.module, name)):
        return True  # what a package imports and does not use it offers to others
    return any(target == own or own.endswith(f".{target}") for target in _imported_from(file, name))


def _imported_from(file: PythonFile, name: str) -> Iterator[str]:
    """Modules from which other files of the project import a name (or everything)."""
    for facts in file.project.modules.values():
        if facts.path == file.source.path:
            continue
        for target in facts.exports.values():
            module, _, last = target.rpartition(".")
            if last in (name, "*"):
                yield module
