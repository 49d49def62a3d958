"""What a value is: a tensor, a module, a device, an optimizer, something else, or unknown.

Light typing, only as deep as safe rewriting needs: constructors and factories of torch, classes of the project that
derive from ``nn.Module``, annotations, results of tensor methods, and, for what remains, the methods the code itself
calls on the same variable (a value whose ``.backward()`` is called is a tensor).
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from trainwright.migrate.python.kind_tables import (
    DISTINCT_METHODS,
    FACTORIES,
    MODULE_BASES,
    MODULE_METHODS,
    NOT_TENSOR_METHODS,
    TENSOR_ATTRIBUTES,
    TENSOR_GIVING,
    TENSOR_NAMES,
)
from trainwright.migrate.python.scopes import Binding, Scope

if TYPE_CHECKING:
    from trainwright.migrate.python.module import PythonFile

_DEPTH = 12


class Kinds:
    """Kinds of the expressions of one file."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        self._cache: dict[ast.expr, str | None] = {}
        self._busy: set[object] = set()

    def of(self, expr: ast.expr) -> str | None:
        """The kind of an expression; None when unknown."""
        if expr in self._cache:
            return self._cache[expr]
        if expr in self._busy or len(self._busy) > _DEPTH:
            return None
        self._busy.add(expr)
        try:
            found = self._of(expr)
        finally:
            self._busy.discard(expr)
        self._cache[expr] = found
        return found

    def _of(self, expr: ast.expr) -> str | None:
        if isinstance(expr, ast.Name):
            return self._name(expr)
        if isinstance(expr, ast.Attribute):
            return self._attribute(expr)
        if isinstance(expr, ast.Call):
            return self._call(expr)
        if isinstance(expr, ast.NamedExpr):
            return self.of(expr.value)
        if isinstance(expr, ast.IfExp):
            one, other = self.of(expr.body), self.of(expr.orelse)
            return one if one == other else None
        if isinstance(expr, ast.BinOp):
            return "tensor" if "tensor" in (self.of(expr.left), self.of(expr.right)) else None
        if isinstance(expr, ast.UnaryOp):
            return "tensor" if self.of(expr.operand) == "tensor" else None
        if isinstance(expr, ast.Subscript):
            return "tensor" if self.of(expr.value) == "tensor" else None
        if isinstance(expr, ast.Constant | ast.JoinedStr | ast.Dict | ast.List | ast.Tuple | ast.Set | ast.Lambda):
            return "other"
        return None

    def _name(self, node: ast.Name) -> str | None:
        found = self._file.index.scopes[node].lookup(node.id)
        if found is None:
            return None
        scope, bindings = found
        kinds = {self._binding(binding, scope, node.id) for binding in bindings if not _is_none(binding)}
        kinds -= {"same"}
        if len(kinds) == 1 and (kind := kinds.pop()):
            return kind
        if kinds - {None}:
            return None  # bindings that disagree
        return self._by_use(self._file.uses.get((scope, node.id), []))

    def _binding(self, binding: Binding, scope: Scope, name: str) -> str | None:
        node = binding.node
        if isinstance(node, ast.arg):
            return self._parameter(node, binding, scope)
        if isinstance(node, ast.AnnAssign):
            return self._annotation(node.annotation) or (self.of(binding.value) if binding.value else None)
        if binding.kind == "value" and binding.value is not None:
            if binding.value in self._busy or _keeps(binding.value, name):
                return "same"  # x = x.cuda(): says nothing new about x
            return self.of(binding.value)
        if binding.kind in ("function", "class"):
            return "other"
        if isinstance(node, ast.Name) and isinstance(self._file.parent(node), ast.AugAssign):
            return "same"
        return None

    def _parameter(self, node: ast.arg, binding: Binding, scope: Scope) -> str | None:
        if node.annotation is not None and (kind := self._annotation(node.annotation)):
            return kind
        function = scope.node
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        owner = self._file.parent(function)
        if isinstance(owner, ast.ClassDef):
            if function.args.args and function.args.args[0] is node and not _is_static(function):
                return "module" if self.is_module_class(owner) else "self"
            if function.name == "forward" and self.is_module_class(owner):
                return None  # usually a tensor, but a list of tensors is common: let its use decide
        return "other" if isinstance(binding.value, ast.Constant) and isinstance(binding.value.value, str) else None

    def _annotation(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return {
                "torch.Tensor": "tensor",
                "Tensor": "tensor",
                "nn.Module": "module",
                "torch.nn.Module": "module",
            }.get(node.value)
        if isinstance(node, ast.Subscript):
            name = self._file.named(node.value)
            if name in ("typing.Optional", "typing.Annotated", "typing.Final"):
                inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
                return self._annotation(inner)
            return "other" if name.startswith("typing.") and name != "typing.Union" else None
        if isinstance(node, ast.BinOp):
            kinds = {self._annotation(side) for side in (node.left, node.right) if not _none_constant(side)}
            return kinds.pop() if len(kinds) == 1 else None
        if isinstance(node, ast.Name) and node.id in ("str", "int", "float", "bool", "dict", "list", "tuple"):
            return "other"
        return self._instance_of(self._file.named(node), node)

    def _instance_of(self, name: str, node: ast.expr) -> str | None:
        if kind := FACTORIES.get(name):
            return kind
        if name in TENSOR_NAMES:
            return "tensor"
        if name.startswith(("torch.nn.modules.", "torch.nn.")) and name.rpartition(".")[2][:1].isupper():
            return "tensor" if name.endswith(("Parameter", "Buffer")) else "module"
        if name.startswith("torch.optim.") and name.rpartition(".")[2][:1].isupper():
            return "other" if "lr_scheduler" in name else "optimizer"
        if name and self._derives(name, 0):
            return "module"
        local = self._local_class(node)
        if local is not None:
            return "module" if self.is_module_class(local) else "other" if self._closed(local) else None
        if name.startswith("torch.") and name.count(".") == 1 and name.rpartition(".")[2].islower():
            return None
        return None

    def _local_class(self, node: ast.expr) -> ast.ClassDef | None:
        if not isinstance(node, ast.Name):
            return None
        bindings = self._file.bindings(node) if node in self._file.index.scopes else []
        found = bindings[0].node if len(bindings) == 1 else None
        return found if isinstance(found, ast.ClassDef) else None

    def _closed(self, node: ast.ClassDef) -> bool:
        """Whether all bases are known here, so that not being a module is certain."""
        return all(
            isinstance(base, ast.Name) and (base.id == "object" or self._local_class(base)) for base in node.bases
        )

    @cached_property
    def _module_classes(self) -> dict[ast.ClassDef, bool]:
        return {}

    def is_module_class(self, node: ast.ClassDef) -> bool:
        """Whether a class of this file derives from ``nn.Module``."""
        known = self._module_classes
        if node not in known:
            known[node] = False  # a class that derives from itself
            known[node] = any(self._is_module_base(base) for base in node.bases)
        return known[node]

    def _is_module_base(self, base: ast.expr) -> bool:
        local = self._local_class(base)
        if local is not None:
            return self.is_module_class(local)
        return self._derives(self._file.named(base), 0)

    def _derives(self, name: str, depth: int) -> bool:
        if name in MODULE_BASES or (name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()):
            return not name.endswith(("Parameter", "Buffer"))
        bases = self._file.project.classes.get(name)
        return depth < _DEPTH and bases is not None and any(self._derives(base, depth + 1) for base in bases)

    def _attribute(self, node: ast.Attribute) -> str | None:
        if node.attr == "device":
            return "device"
        if node.attr in TENSOR_ATTRIBUTES and self.of(node.value) == "tensor":
            return "tensor"
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            return self._member(node)
        if node.attr == "module" and self.of(node.value) == "module":
            return "module"
        return None

    def _member(self, node: ast.Attribute) -> str | None:
        owner = self._owner(node)
        stores = [
            value
            for target, value in self._file.index.stores.get(node.attr, [])
            if value is not None and self._owner(target) is owner and not _none_constant(value)
        ]
        kinds = {self.of(value) for value in stores if value not in self._busy}
        if len(kinds) == 1 and (kind := kinds.pop()):
            return kind
        if kinds - {None}:
            return None
        reads = [read for read in self._file.attribute_reads.get(node.attr, []) if self._owner(read) is owner]
        return self._by_use(reads)

    def _owner(self, node: ast.AST) -> ast.ClassDef | None:
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.ClassDef):
            at = self._file.parent(at)
        return at

    def _by_use(self, reads: list[ast.Name] | list[ast.Attribute]) -> str | None:
        """The kind that the methods called on a value give away."""
        called = set()
        for read in reads:
            above = self._file.parent(read)
            if isinstance(above, ast.Attribute):
                called.add(above.attr)
        return next((kind for kind, methods in DISTINCT_METHODS.items() if called & methods), None)

    def _call(self, node: ast.Call) -> str | None:
        name = self._file.named(node.func)
        if name:
            return self._called(name, node)
        if isinstance(node.func, ast.Attribute):
            receiver = self.of(node.func.value)
            method = node.func.attr
            if receiver == "tensor":
                return None if method in NOT_TENSOR_METHODS else "tensor"
            if receiver == "module":
                return "module" if method in MODULE_METHODS else None
            if method in ("cuda", "to", "npu", "cpu") and receiver is not None:
                return receiver if receiver != "self" else None
            if method in TENSOR_GIVING or (method == "eval" and not node.args and not node.keywords):
                return "tensor" if method in TENSOR_GIVING else "module"
        if isinstance(node.func, ast.Name):
            return self._instance_of("", node.func)
        return None

    def _called(self, name: str, node: ast.Call) -> str | None:
        if kind := self._instance_of(name, node.func):
            return kind
        if name.endswith(".from_pretrained"):
            owner = name.removesuffix(".from_pretrained").rpartition(".")[2]
            return "module" if "Model" in owner else "other" if "Tokenizer" in owner else None
        if name.startswith(("torchvision.models.", "timm.create_model")):
            return "module"
        head, _, last = name.rpartition(".")
        facts = self._file.names._modules.get(head)
        function = facts.functions.get(last) if facts else None
        return function.returns or None if function else None


def _is_none(binding: Binding) -> bool:
    return binding.value is not None and _none_constant(binding.value)


def _keeps(value: ast.expr, name: str) -> bool:
    """Whether a value is the variable itself after a method that keeps its kind: ``x.cuda()``, ``x.to(device)``."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    receiver = value.func.value
    same = isinstance(receiver, ast.Name) and receiver.id == name
    return value.func.attr in MODULE_METHODS and (same or _keeps(receiver, name))


def _none_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_static(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in function.decorator_list)
