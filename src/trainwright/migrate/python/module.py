"""A Python file under scan: its tree, what its names stand for, and places in its bytes."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from trainwright.migrate.options import Options
from trainwright.migrate.project import OwnCuda, Project
from trainwright.migrate.python.kinds import Kinds
from trainwright.migrate.python.names import Names, Resolved
from trainwright.migrate.python.own_cuda import mentioned
from trainwright.migrate.python.scopes import Binding, Index, Scope
from trainwright.migrate.remark import Confidence
from trainwright.migrate.source import Source

#: What an expression can be, as far as rules care; ``other``: known, and none of these.
Kind = str


@dataclass(frozen=True, kw_only=True)
class NameRef:
    """A reference to something with a dotted name: the largest chain that resolves, or an imported alias."""

    node: ast.expr | ast.alias
    name: str
    confidence: Confidence
    call: ast.Call | None = None


@dataclass(frozen=True, kw_only=True)
class ImportRef:
    """One imported thing.

    Args:
        name: full dotted name of the thing (``flash_attn.flash_attn_func``).
        guarded: a missing library is handled (``try`` with an ``except`` for it).
        typing_only: stands under ``if TYPE_CHECKING``.
    """

    node: ast.Import | ast.ImportFrom
    alias: ast.alias
    name: str
    guarded: bool
    typing_only: bool


class PythonFile:
    """One parsed file. Everything is computed on first use and remembered."""

    def __init__(self, *, source: Source, tree: ast.Module, project: Project, options: Options) -> None:
        self.source = source
        self.tree = tree
        self.project = project
        self.options = options

    @cached_property
    def index(self) -> Index:
        """Scopes, parents and lists of nodes."""
        return Index(self.tree)

    @cached_property
    def names(self) -> Names:
        """What names stand for."""
        return Names(self.index, path=self.source.path, project=self.project)

    def resolve(self, expr: ast.expr) -> Resolved | None:
        """The dotted name an expression stands for; None when it is a value or unknown."""
        return self.names.resolve(expr)

    def named(self, expr: ast.expr | None) -> str:
        """The dotted name of an expression, or an empty string."""
        found = self.names.resolve(expr) if expr is not None else None
        return found.name if found else ""

    def constant(self, expr: ast.expr | None) -> object | None:
        """The constant an expression is known to be: literals, concatenations, names bound once to one."""
        return self.names.constant(expr)

    def kind(self, expr: ast.expr) -> Kind | None:
        """``tensor``, ``module``, ``device``, ``optimizer``, ``dtype``, ``other``; None when unknown."""
        return self.kinds.of(expr)

    @cached_property
    def kinds(self) -> Kinds:
        """What values are."""
        return Kinds(self)

    @cached_property
    def cuda_owners(self) -> list[OwnCuda]:
        """Classes of the project with a ``cuda()`` of their own that this file defines or names."""
        return mentioned(self)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        return self.index.parents.get(node)

    def call_of(self, node: ast.AST) -> ast.Call | None:
        """The call that calls this node."""
        parent = self.index.parents.get(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement a node stands in."""
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.stmt):
            at = self.index.parents.get(at)
        assert at is not None, "a node outside of every statement"
        return at

    def scope(self, node: ast.AST) -> Scope:
        """The scope a node stands in."""
        at: ast.AST | None = node
        while at is not None:
            if at in self.index.scopes:
                return self.index.scopes[at]
            at = self.index.parents.get(at)
        return self.index.module

    def bindings(self, node: ast.Name) -> list[Binding]:
        """The ways a name used here gets its value."""
        found = self.index.scopes[node].lookup(node.id)
        return found[1] if found else []

    @cached_property
    def uses(self) -> dict[tuple[Scope, str], list[ast.Name]]:
        """Reads of every bound name: (scope that binds it, name) -> nodes."""
        found: dict[tuple[Scope, str], list[ast.Name]] = {}
        for node in self.index.names:
            bound = self.index.scopes[node].lookup(node.id)
            if bound:
                found.setdefault((bound[0], node.id), []).append(node)
        return found

    @cached_property
    def attribute_reads(self) -> dict[str, list[ast.Attribute]]:
        """Attribute name -> where an attribute of that name is read."""
        found: dict[str, list[ast.Attribute]] = {}
        for node in self.index.attributes:
            if isinstance(node.ctx, ast.Load):
                found.setdefault(node.attr, []).append(node)
        return found

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Byte range of a node."""
        start, end = self.chars(node)
        return self.source.byte_at(start), self.source.byte_at(end)

    def chars(self, node: ast.AST) -> tuple[int, int]:
        """Character range of a node in ``source.text``."""
        at: ast.AST | None = node
        while at is not None and getattr(at, "end_col_offset", None) is None:
            at = self.parent(at)  # arguments and comprehensions carry no place of their own
        assert at is not None
        place: ast.expr = at  # type: ignore[assignment]
        assert place.end_lineno is not None
        assert place.end_col_offset is not None
        of = self.source.char_of
        return of(place.lineno, place.col_offset), of(place.end_lineno, place.end_col_offset)

    def text(self, node: ast.AST) -> str:
        """Source text of a node."""
        start, end = self.chars(node)
        return self.source.text[start:end]

    def imported(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """Full dotted name of an imported thing; relative imports are made absolute within the project."""
        if isinstance(node, ast.Import):
            return alias.name
        return self.names.absolute("." * node.level + (node.module or ""), alias.name)

    @cached_property
    def import_refs(self) -> list[ImportRef]:
        """Every imported thing, in source order."""
        return [
            ImportRef(
                node=node,
                alias=alias,
                name=self.imported(node, alias),
                guarded=self._is_guarded(node),
                typing_only=self.is_typing_only(node),
            )
            for node in self.index.imports
            for alias in node.names
        ]

    def _is_guarded(self, node: ast.AST) -> bool:
        at: ast.AST | None = node
        while at is not None:
            above = self.index.parents.get(at)
            if isinstance(above, ast.Try) and at in above.body and any(map(_catches_import, above.handlers)):
                return True
            if isinstance(above, ast.If) and at in above.body and _checks_presence(above.test):
                return True
            at = above
        return False

    def is_typing_only(self, node: ast.AST) -> bool:
        """Whether a node stands under ``if TYPE_CHECKING``."""
        at: ast.AST | None = node
        while at is not None:
            above = self.index.parents.get(at)
            if isinstance(above, ast.If) and at in above.body:
                test = above.test
                name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")
                if name == "TYPE_CHECKING":
                    return True
            at = above
        return False


def _catches_import(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
    return handler.type is None or bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


_PRESENCE = ("available", "has_", "have_", "find_spec", "installed", "is_", "use_", "with_")


def _checks_presence(test: ast.expr) -> bool:
    """``if is_flash_attn_available():``, ``if HAS_APEX:``, ``if find_spec("x")``: the import is a choice.

    ``torch.cuda.is_available()`` is none: it asks for the device, and is rewritten.
    """
    names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
    names += [
        node.attr
        for node in ast.walk(test)
        if isinstance(node, ast.Attribute) and not ast.unparse(node).endswith("cuda.is_available")
    ]
    return any(name.lower().startswith(_PRESENCE) or name.lower().endswith("available") for name in names)
