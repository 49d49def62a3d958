"""What a test in Python says about the device: whether it holds, or fails, only with a certain platform."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterator

from trainwright.migrate.python.module import PythonFile

#: 1: the term holds only with the platform; -1: it fails only with it; 0: it says nothing.
Term = Callable[[ast.expr], int]
Span = tuple[int, int]

_PARTS = re.compile(r"[A-Za-z]?[a-z0-9]+|[A-Z0-9]+")
_ROCM = frozenset(("rocm", "hip", "amd", "aiter"))
_CUDA = frozenset(
    {"CUDA_HOME", "cuda_is_available", "is_cuda", "is_cuda_alike", "is_cuda_platform"}
    | {"is_device_capability", "is_device_capability_family", "has_device_capability"}
)
_FLAG = re.compile(r"^_*(?:has|have)_|_?(?:available|installed)$", re.IGNORECASE)
_HERE_TOO = frozenset(("torch", "triton", "npu", "cpu", "accelerator", "distributed", "transformers"))
_GETATTR_ARGS = 3
#: So many variables are followed from a test to what they hold.
_HOPS = 3


def verdict(test: ast.expr, term: Term) -> int:
    """1: `test` holds only with the platform, -1: it fails only with it, 0: neither is known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return -verdict(test.operand, term)
    if isinstance(test, ast.BoolOp):
        found = [verdict(value, term) for value in test.values]
        strong, weak = (1, -1) if isinstance(test.op, ast.And) else (-1, 1)
        return strong if strong in found else weak if set(found) == {weak} else 0
    if isinstance(test, ast.Compare) and _is_none(test.comparators[0]):
        found_one = term(test.left)
        return found_one if isinstance(test.ops[0], ast.IsNot | ast.NotEq) else -found_one
    return term(test)


def implied(test: ast.expr, term: Term) -> bool:
    """Whether `test` holds with the platform for sure: what follows a branch that leaves then runs without it."""
    if isinstance(test, ast.BoolOp):
        found = [implied(value, term) for value in test.values]
        return all(found) if isinstance(test.op, ast.And) else any(found)
    return not isinstance(test, ast.UnaryOp) and term(test) > 0


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def identifiers(node: ast.expr) -> Iterator[str]:
    """The names a test asks by: of a variable, an attribute, or the function it calls."""
    asked = node.func if isinstance(node, ast.Call) else node
    if isinstance(asked, ast.Attribute):
        yield asked.attr
    elif isinstance(asked, ast.Name):
        yield asked.id


def words(name: str) -> set[str]:
    """The words of an identifier, in lower case: ``IS_HIP_EXTENSION``, ``onGfx9``."""
    return {part.lower() for part in _PARTS.findall(name)}


def rocm_term(node: ast.expr) -> int:
    """``torch.version.hip``, ``is_rocm()``, ``IS_HIP_EXTENSION``, ``target == "rocm"``."""
    if (compared := _compared(node, ("rocm", "hip"))) is not None:
        return compared
    return int(any(not _ROCM.isdisjoint(words(name)) or "gfx" in name.lower() for name in identifiers(node)))


def npu_term(node: ast.expr) -> int:
    """``x.device.type == "npu"``, ``is_npu``, ``device in ("npu", "mlu")``."""
    if (compared := _compared(node, ("npu",))) is not None:
        return compared
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
        values = getattr(node.comparators[0], "elts", ())
        return int(any(isinstance(value, ast.Constant) and value.value == "npu" for value in values))
    asked = node.func if isinstance(node, ast.Call) else node
    return int(isinstance(asked, ast.Attribute | ast.Name) and "npu" in words(ast.unparse(asked)))


def _compared(node: ast.expr, wanted: Container[object]) -> int | None:
    """For a comparison with one of some texts 1, with its opposite -1; None for everything else."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return None
    sides = (node.left, *node.comparators)
    if not any(isinstance(side, ast.Constant) and side.value in wanted for side in sides):
        return None
    return 1 if isinstance(node.ops[0], ast.Eq) else -1


class CudaTerm:
    """Terms that hold only where CUDA, or something made for it, is there.

    A term that an edit rewrites for the NPU says nothing any more: `edited` are the places of the edits to be made.
    """

    def __init__(self, file: PythonFile, edited: tuple[Span, ...] | None = None) -> None:
        self._file = file
        self._edited = edited
        self._hops = 0

    def __call__(self, node: ast.expr) -> int:
        """See `Term`."""
        if self._has(node):
            return 1
        if self._edited:
            start, end = self._file.span(node)
            if any(start <= at < end for at, _ in self._edited):
                return 0
        if self._edited is not None and (_is_device_cuda(node) or self._asks_torch(node)):
            return 1
        return int(any(name in _CUDA for name in identifiers(node)) or self._is_there(node))

    def _asks_torch(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else node
        return self._file.named(called) in ("torch.cuda.is_available", "torch.version.cuda")

    def _has(self, node: ast.expr) -> bool:
        """``hasattr(torch.ops._C, "x")``: what the NPU lacks is missing under its name, too."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "hasattr":
            return False
        return bool(node.args) and self._file.named(node.args[0]).startswith(("torch.ops", "torch.cuda", "torch._C"))

    def _is_there(self, node: ast.expr) -> bool:
        """A name that is None where a library is missing, ``HAS_LIBRARY``."""
        file = self._file
        if isinstance(node, ast.Name) and (bindings := file.bindings(node)):
            if file.named(node):
                return any(_may_be_none(binding.value) for binding in bindings)
            kept = bindings[0].value
            if len(bindings) == 1 and kept is not None and self._hops < _HOPS:
                self._hops += 1
                found = verdict(kept, self) > 0
                self._hops -= 1
                return found
        asked = node.func if isinstance(node, ast.Call) else node
        flag = any(_FLAG.search(name) for name in identifiers(node))
        return flag and _HERE_TOO.isdisjoint(words(ast.unparse(asked)))


def _is_device_cuda(node: ast.expr) -> bool:
    """``x.device.type == "cuda"``; a bare name compared with "cuda" may as well name an implementation."""
    if not isinstance(node, ast.Compare) or _compared(node, ("cuda",)) != 1:
        return False
    sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
    return any("device" in side or side.endswith(".type") for side in sides)


def _may_be_none(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "getattr":
        return len(value.args) == _GETATTR_ARGS
    return isinstance(value, ast.Constant) and value.value in (None, False)
