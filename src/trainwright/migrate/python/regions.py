"""The parts of a Python file that run only on a certain platform, by the tests around and in front of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trainwright.migrate.python.conditions import Span, Term, identifiers, implied, verdict, words
from trainwright.migrate.python.module import PythonFile

_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_LEAVING_CALLS = frozenset(("skip", "exit", "_exit", "fail"))
#: Words of tests for machines without an NPU.
_OTHERS = frozenset(("cpu", "cuda", "hip", "hpu", "mps", "rocm", "tpu", "xpu"))
_BLOCKS = ("body", "orelse", "finalbody", "handlers")


@dataclass(frozen=True, kw_only=True)
class Region:
    """Bytes that run under a condition. `line` is where the other way begins, 0 when there is none to name."""

    span: Span
    line: int


def branches(file: PythonFile, tests: list[ast.AST], term: Term, *, fallback: bool = False) -> Iterator[Region]:
    """What runs only with the platform that `term` asks for.

    With `fallback`, only where something else runs without it: a branch whose other side raises does not count.
    """
    for node in tests:
        if isinstance(node, ast.If):
            yield from _of_if(file, node, verdict(node.test, term), fallback)
        elif isinstance(node, ast.IfExp) and (found := verdict(node.test, term)):
            inside, other = (node.body, node.orelse) if found > 0 else (node.orelse, node.body)
            yield Region(span=file.span(inside), line=other.lineno)
        elif isinstance(node, ast.BoolOp):
            wanted = 1 if isinstance(node.op, ast.And) else -1
            for at, value in enumerate(node.values[:-1]):
                if verdict(value, term) == wanted:
                    start = file.span(node.values[at + 1])[0]
                    yield Region(span=(start, file.span(node.values[-1])[1]), line=0)
                    break


def without(file: PythonFile, tests: list[ast.AST], term: Term) -> Iterator[Region]:
    """What runs only where the platform that `term` asks for is not there, because it took another branch."""
    for node in tests:
        if isinstance(node, ast.If) and implied(node.test, term):
            line = node.body[0].lineno
            for block in (node.orelse, _rest(file, node) if _leaves(node.body) else []):
                if block:
                    yield Region(span=_span(file, block), line=line)
        elif isinstance(node, ast.IfExp) and implied(node.test, term):
            yield Region(span=file.span(node.orelse), line=node.body.lineno)


def tests_of(file: PythonFile) -> list[ast.AST]:
    """Every node that tests something."""
    return [node for node in ast.walk(file.tree) if isinstance(node, ast.If | ast.IfExp | ast.BoolOp)]


def _of_if(file: PythonFile, node: ast.If, found: int, fallback: bool) -> Iterator[Region]:
    rest = _rest(file, node)
    leaves = _leaves(node.body)
    if found > 0 and not (fallback and (only_raises(node.orelse) or (leaves and only_raises(rest)))):
        other = node.orelse or rest
        yield Region(span=_span(file, node.body), line=other[0].lineno if other else 0)
    if found < 0 and not (fallback and only_raises(node.body)):
        for block in (node.orelse, rest if leaves else []):
            if block:
                yield Region(span=_span(file, block), line=node.body[0].lineno)


def only_raises(block: list[ast.stmt]) -> bool:
    """Whether a block ends in an error at once, or after tests that are none of a machine with an NPU."""
    if not block:
        return False
    first = block[0]
    if isinstance(first, ast.If) and len(block) == 1 and first.orelse:
        parts = [part for part in ast.walk(first.test) if isinstance(part, ast.expr)]
        asked = {word for part in parts for name in identifiers(part) for word in words(name)}
        asked |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
        return not _OTHERS.isdisjoint(asked) and only_raises(first.orelse)
    return isinstance(first, ast.Raise) or (isinstance(first, ast.Assert) and _is_false(first.test))


def _is_false(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and not test.value


def _leaves(block: list[ast.stmt]) -> bool:
    last = block[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        called = last.value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in _LEAVING_CALLS
    return isinstance(last, _LEAVES)


def _rest(file: PythonFile, node: ast.stmt) -> list[ast.stmt]:
    """The statements behind one in its block."""
    above = file.parent(node)
    for name in _BLOCKS:
        block = getattr(above, name, None)
        if isinstance(block, list) and node in block:
            return block[block.index(node) + 1 :]
    return []


def _span(file: PythonFile, block: list[ast.stmt]) -> Span:
    return file.span(block[0])[0], file.span(block[-1])[1]


def named_definitions(file: PythonFile, wanted: Callable[[ast.FunctionDef | ast.ClassDef], bool]) -> Iterator[Region]:
    """Functions and classes that say by their name, or a decorator, where they run."""
    for node in (*file.index.functions, *file.index.classes):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and wanted(node):
            yield Region(span=file.span(node), line=0)
