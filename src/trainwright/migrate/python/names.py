"""What names stand for: dotted names through imports, aliases, re-exports and ``getattr``; constants through names.

``resolved``: one binding, no doubt. ``inferred``: several bindings that agree, or one besides which the name may also
be missing (``except ImportError: torch = None``). Names with bindings that disagree stand for nothing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from trainwright.migrate.project import Facts, Project
from trainwright.migrate.python.scopes import Binding, Index
from trainwright.migrate.remark import Confidence

#: Longest chain of aliases that is followed.
MAX_HOPS = 16
_IMPORTERS = {"importlib.import_module", "builtins.__import__"}


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """A dotted name and how sure it is."""

    name: str
    confidence: Confidence = "resolved"


def module_name(path: str) -> str:
    """Dotted name of the module in a file, from the root of the project."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1:] == ["__init__"] else parts)


class Names:
    """Resolves the expressions of one file."""

    def __init__(self, index: Index, *, path: str, project: Project) -> None:
        self._index = index
        self._project = project
        self._module = module_name(path)
        self._package = path.endswith("__init__.py")
        self._cache: dict[ast.expr, Resolved | None] = {}
        self._busy: set[object] = set()

    def resolve(self, expr: ast.expr) -> Resolved | None:
        """The dotted name `expr` stands for."""
        if expr in self._cache:
            return self._cache[expr]
        if expr in self._busy or len(self._busy) > MAX_HOPS:
            return None
        self._busy.add(expr)
        try:
            found = self._resolve(expr)
        finally:
            self._busy.discard(expr)
        self._cache[expr] = found
        return found

    def _resolve(self, expr: ast.expr) -> Resolved | None:
        if isinstance(expr, ast.Name):
            return self._name(expr)
        if isinstance(expr, ast.Attribute):
            base = self.resolve(expr.value)
            return self._below(base, expr.attr) if base else None
        if isinstance(expr, ast.Call):
            return self._call(expr)
        if isinstance(expr, ast.NamedExpr):
            return self.resolve(expr.value)
        return None

    def _call(self, expr: ast.Call) -> Resolved | None:
        if isinstance(expr.func, ast.Name) and expr.func.id == "getattr" and len(expr.args) >= 2:
            base, attribute = self.resolve(expr.args[0]), self.constant(expr.args[1])
            return self._below(base, attribute) if base and isinstance(attribute, str) else None
        if not expr.args:
            return None
        called = self.resolve(expr.func)
        builtin = isinstance(expr.func, ast.Name) and expr.func.id == "__import__"
        if builtin or (called and called.name in _IMPORTERS):
            name = self.constant(expr.args[0])
            if isinstance(name, str) and name and not name.startswith("."):
                return Resolved(name=name.partition(".")[0] if builtin else name)
        return None

    def _below(self, base: Resolved, attribute: str) -> Resolved:
        return replace(base, name=self._canonical(f"{base.name}.{attribute}"))

    def _name(self, node: ast.Name) -> Resolved | None:
        scope = self._index.scopes.get(node)
        found = scope.lookup(node.id) if scope else None
        if found is None:
            return None
        return self._agreed([binding for binding in found[1] if not _is_none(binding)], len(found[1]))

    def _agreed(self, bindings: list[Binding], total: int) -> Resolved | None:
        targets = [self._binding(binding) for binding in bindings]
        if not targets or None in targets:
            return None
        names = {target.name for target in targets if target}
        if len(names) != 1:
            return None
        first = targets[0]
        assert first is not None
        return first if total == 1 else replace(first, confidence="inferred")

    def _binding(self, binding: Binding) -> Resolved | None:
        if binding.kind == "import":
            return Resolved(name=self._canonical(self.absolute(binding.target)))
        if binding.kind == "value" and binding.value is not None:
            return self.resolve(binding.value)
        if binding.kind in ("class", "function") and self._module:
            node = binding.node
            assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if self._index.scopes[node] is self._index.module:
                return Resolved(name=f"{self._module}.{node.name}")
        return None

    def absolute(self, module: str, name: str = "") -> str:
        """The dotted name of ``from module import name`` with leading dots resolved within the project."""
        level = len(module) - len(module.lstrip("."))
        rest = module[level:]
        if level:
            parts = self._module.split(".") if self._module else []
            keep = len(parts) - level + self._package
            rest = ".".join([*parts[: max(keep, 0)], *([rest] if rest else [])])
        return ".".join(part for part in (rest, name) if part)

    def _canonical(self, name: str) -> str:
        """The name with re-exports of the project's own modules followed."""
        for _ in range(MAX_HOPS):
            following = self._follow(name)
            if following is None:
                return name
            name = following
        return name

    def _follow(self, name: str) -> str | None:
        modules = self._modules
        head, _, tail = name.rpartition(".")
        while head:
            facts = modules.get(head)
            if facts is not None:
                first, _, rest = tail.partition(".")
                target = facts.exports.get(first)
                if target is None or target == f"{head}.{first}":
                    return None
                return f"{target}.{rest}" if rest else target
            head, _, more = head.rpartition(".")
            tail = f"{more}.{tail}"
        return None

    def own(self, name: str) -> str:
        """The full name of a thing of the project, by whatever end of its module's name it was written."""
        name = self._canonical(name)
        head, _, last = name.rpartition(".")
        facts = self._modules.get(head) if head else None
        return f"{facts.module}.{last}" if facts else name

    @cached_property
    def _modules(self) -> _ModuleTable:
        return _ModuleTable(self._project)

    def constant(self, expr: ast.expr | None) -> object | None:
        """The constant `expr` is known to be."""
        if expr is None or expr in self._busy:
            return None
        self._busy.add(expr)
        try:
            return self._constant(expr)
        finally:
            self._busy.discard(expr)

    def _constant(self, expr: ast.expr) -> object | None:
        if isinstance(expr, ast.Constant):
            return expr.value
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Add):
            left, right = self.constant(expr.left), self.constant(expr.right)
            if isinstance(left, str) and isinstance(right, str):
                return left + right
            return left + right if isinstance(left, int) and isinstance(right, int) else None
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Mult):
            left, right = self.constant(expr.left), self.constant(expr.right)
            return left * right if isinstance(left, int) and isinstance(right, int) else None
        if isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.USub):
            value = self.constant(expr.operand)
            return -value if isinstance(value, int | float) else None
        if isinstance(expr, ast.JoinedStr):
            parts = [self.constant(part) for part in expr.values]
            return "".join(parts) if all(isinstance(part, str) for part in parts) else None  # type: ignore[arg-type]
        if isinstance(expr, ast.Name):
            return self._constant_name(expr)
        if isinstance(expr, ast.Attribute):
            return self._constant_attribute(expr)
        return None

    def _constant_name(self, node: ast.Name) -> object | None:
        scope = self._index.scopes.get(node)
        found = scope.lookup(node.id) if scope else None
        if found is None or len(found[1]) != 1:
            return None
        binding = found[1][0]
        if binding.kind == "value":
            return self.constant(binding.value)
        if binding.kind == "import":
            return self._constant_of(self.absolute(binding.target))
        return None

    def _constant_attribute(self, node: ast.Attribute) -> object | None:
        base = self.resolve(node.value)
        return self._constant_of(f"{base.name}.{node.attr}") if base else None

    def _constant_of(self, name: str) -> object | None:
        head, _, last = name.rpartition(".")
        facts = self._modules.get(head)
        return facts.constants.get(last) if facts else None


class _ModuleTable:
    """Modules of a project by any unambiguous end of their dotted name (``src.pkg.x`` is also ``pkg.x``)."""

    def __init__(self, project: Project) -> None:
        self._exact = project.modules
        self._ends = project.module_ends

    def get(self, name: str) -> Facts | None:
        """The facts of a module; None when there is none, or several fit."""
        return self._exact.get(name) or self._ends.get(name)


def _is_none(binding: Binding) -> bool:
    value = binding.value
    return binding.kind == "value" and isinstance(value, ast.Constant) and value.value in (None, False)
