"""Scopes of a Python file: which name is bound where, and by what.

One walk over the syntax tree makes the scopes, the parent of every node, and lists of the nodes that rules ask about.
The rules of the language that matter here: a class body is invisible to the functions in it; the first iterable of a
comprehension belongs outside; ``global`` and ``nonlocal`` move a binding; default values and decorators belong outside.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

BindingKind = Literal["import", "value", "parameter", "function", "class", "other"]


@dataclass(eq=False, slots=True)
class Binding:
    """One way a name gets its value.

    `value`: for ``value`` the assigned expression, for ``parameter`` its default (or None); `target`: for ``import``
    the dotted name (leading dots for relative ones). `node` is the statement, alias, argument or name that binds.
    """

    kind: BindingKind
    node: ast.AST
    value: ast.expr | None = None
    target: str = ""


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class, function, lambda or comprehension."""

    kind: Literal["module", "class", "function", "comprehension"]
    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: dict[str, Literal["global", "nonlocal"]] = field(default_factory=dict)

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds `name` as seen from here, and its bindings; None for builtins and unknown names."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            moved = scope.outer.get(name)
            if moved == "global":
                root = scope.module
                return (root, root.bindings[name]) if name in root.bindings else None
            visible = first or scope.kind != "class"
            if visible and moved is None and name in scope.bindings:
                return scope, scope.bindings[name]
            first = False
            scope = scope.parent
        return None

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, binding: Binding) -> None:
        """Add a way that `name` gets its value."""
        scope = self
        if self.outer.get(name) == "global":
            scope = self.module
        elif self.outer.get(name) == "nonlocal":
            found = self.parent.lookup(name) if self.parent else None
            scope = found[0] if found else self
        scope.bindings.setdefault(name, []).append(binding)


class Index:
    """Everything one walk over a module finds.

    Attributes:
        parents: node -> parent.
        scopes: name node, function, class, lambda -> the scope it stands in.
        names, attributes, strings, calls, imports, functions, classes: the nodes of those kinds, in source order.
        stores: attribute name -> expressions assigned to an attribute of that name (``self.x = value``).
    """

    def __init__(self, tree: ast.Module) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self.names: list[ast.Name] = []
        self.attributes: list[ast.Attribute] = []
        self.strings: list[ast.Constant] = []
        self.calls: list[ast.Call] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        self.classes: list[ast.ClassDef] = []
        self.stores: dict[str, list[tuple[ast.Attribute, ast.expr | None]]] = {}
        self.module = Scope("module", tree, None)
        self._visitors: dict[type, Callable[[Any, Scope], None]] = {
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.Lambda: self._lambda,
            ast.ClassDef: self._class,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.NamedExpr: self._walrus,
            ast.AugAssign: self._augmented,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Constant: self._constant,
            ast.Call: self._call,
            ast.Global: self._global,
            ast.Nonlocal: self._global,
            ast.ExceptHandler: self._handler,
        }
        for name in ("MatchAs", "MatchStar", "MatchMapping"):
            if kind := getattr(ast, name, None):
                self._visitors[kind] = self._capture
        self._children(tree, self.module)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        visitor = self._visitors.get(type(node))
        if visitor is None:
            self._children(node, scope)
        else:
            visitor(node, scope)

    def _children(self, node: ast.AST, scope: Scope) -> None:
        parents = self.parents
        for child in _child_nodes(node):
            parents[child] = node
            self._visit(child, scope)

    def _some(self, node: ast.AST, children: list[Any], scope: Scope) -> None:
        for child in children:
            if child is not None:
                self.parents[child] = node
                self._visit(child, scope)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.functions.append(node)
        self.scopes[node] = scope
        scope.bind(node.name, Binding("function", node))
        self._some(node, [*node.decorator_list, node.returns, *getattr(node, "type_params", [])], scope)
        inner = Scope("function", node, scope)
        self._arguments(node, node.args, scope, inner)
        for statement in node.body:
            _declare_outer(statement, inner)
        self._some(node, list(node.body), inner)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self.scopes[node] = scope
        inner = Scope("function", node, scope)
        self._arguments(node, node.args, scope, inner)
        self._some(node, [node.body], inner)

    def _arguments(self, owner: ast.AST, args: ast.arguments, scope: Scope, inner: Scope) -> None:
        self.parents[args] = owner
        self._some(args, [*args.defaults, *args.kw_defaults], scope)
        positional = [*args.posonlyargs, *args.args]
        defaults: dict[ast.arg, ast.expr | None] = dict(
            zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=False)
        )
        defaults.update(zip(args.kwonlyargs, args.kw_defaults, strict=True))
        for arg in [*positional, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]:
            self.parents[arg] = args
            if arg.annotation is not None:
                self._some(arg, [arg.annotation], scope)
            kind: BindingKind = "other" if arg in (args.vararg, args.kwarg) else "parameter"
            inner.bind(arg.arg, Binding(kind, arg, defaults.get(arg)))
            self.scopes[arg] = inner

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self.classes.append(node)
        self.scopes[node] = scope
        scope.bind(node.name, Binding("class", node))
        self._some(node, [*node.decorator_list, *node.bases, *node.keywords, *getattr(node, "type_params", [])], scope)
        self._some(node, list(node.body), Scope("class", node, scope))

    def _comprehension(self, node: Any, scope: Scope) -> None:
        inner = Scope("comprehension", node, scope)
        for position, generator in enumerate(node.generators):
            self.parents[generator] = node
            self._some(generator, [generator.iter], inner if position else scope)
            self._some(generator, [generator.target, *generator.ifs], inner)
        if isinstance(node, ast.DictComp):
            self._some(node, [node.key, node.value], inner)
        else:
            self._some(node, [node.elt], inner)

    def _import(self, node: ast.Import, scope: Scope) -> None:
        self.imports.append(node)
        self.scopes[node] = scope
        for alias in node.names:
            self.parents[alias] = node
            root = alias.name.partition(".")[0]
            scope.bind(alias.asname or root, Binding("import", alias, target=alias.name if alias.asname else root))

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        self.imports.append(node)
        self.scopes[node] = scope
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            self.parents[alias] = node
            joint = "" if module.endswith(".") else "."
            scope.bind(alias.asname or alias.name, Binding("import", alias, target=f"{module}{joint}{alias.name}"))

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._store(target, node.value)
        self._children(node, scope)
        for target in node.targets:
            self._bind_target(target, node.value, scope, node)

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        self._store(node.target, node.value)
        self._children(node, scope)
        if isinstance(node.target, ast.Name):
            kind: BindingKind = "value" if node.value is not None else "other"
            scope.bind(node.target.id, Binding(kind, node, node.value))

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        self._children(node, scope)
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        scope.bind(node.target.id, Binding("value", node, node.value))

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        self._children(node, scope)

    def _bind_target(self, target: ast.expr, value: ast.expr | None, scope: Scope, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, Binding("value" if value is not None else "other", node, value))
        elif isinstance(target, ast.Tuple | ast.List):
            values: list[Any] = [None] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                values = list(value.elts)
            for element, part in zip(target.elts, values, strict=True):
                self._bind_target(element, part, scope, node)
        elif isinstance(target, ast.Starred):
            self._bind_target(target.value, None, scope, node)

    def _store(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Attribute):
            self.stores.setdefault(target.attr, []).append((target, value))
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._store(element, None)

    def _name(self, node: ast.Name, scope: Scope) -> None:
        self.scopes[node] = scope
        if isinstance(node.ctx, ast.Load):
            self.names.append(node)
        elif not isinstance(self.parents[node], ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Tuple | ast.List):
            # loops, with, del, augmented assignment: bound to something we do not follow
            scope.bind(node.id, Binding("other", node))
        elif isinstance(self.parents[node], ast.Tuple | ast.List) and not self._under_assignment(node):
            scope.bind(node.id, Binding("other", node))

    def _under_assignment(self, node: ast.AST) -> bool:
        while isinstance(node := self.parents[node], ast.Tuple | ast.List | ast.Starred):
            pass
        return isinstance(node, ast.Assign)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self.attributes.append(node)
        self.parents[node.value] = node
        self._visit(node.value, scope)

    def _constant(self, node: ast.Constant, scope: Scope) -> None:
        if isinstance(node.value, str | bytes):
            self.strings.append(node)
            self.scopes[node] = scope

    def _call(self, node: ast.Call, scope: Scope) -> None:
        self.calls.append(node)
        self.scopes[node] = scope
        self._children(node, scope)

    def _global(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            scope.outer[name] = "global" if isinstance(node, ast.Global) else "nonlocal"

    def _handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            scope.bind(node.name, Binding("other", node))
        self._children(node, scope)

    def _capture(self, node: Any, scope: Scope) -> None:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            scope.bind(name, Binding("other", node))
        self._children(node, scope)


def _declare_outer(statement: ast.stmt, scope: Scope) -> None:
    if isinstance(statement, ast.Global | ast.Nonlocal):
        for name in statement.names:
            scope.outer[name] = "global" if isinstance(statement, ast.Global) else "nonlocal"


def _child_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if not isinstance(value, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
                yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST) and not isinstance(item, ast.cmpop):
                    yield item
