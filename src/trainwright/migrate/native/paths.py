"""What a Python expression can hold when it is a path, a name or a list of them: a small, forgiving evaluation.

Build scripts put lists of sources together with ``os.path.join``, ``glob``, ``+`` and comprehensions. Everything a
name is ever bound to counts. A part that only the running program knows is left out in front of a path and is ``*``
inside one.
"""

from __future__ import annotations

import ast
import itertools
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping

_LIMIT = 400  # texts per expression; more is no list of sources
_DEPTH = 30
_NESTED = 6
#: Calls whose value is that of their first argument, as far as paths go.
_SAME = frozenset(("abspath", "fspath", "glob", "iglob", "list", "normpath", "realpath", "relpath", "sorted", "str"))
_PATHS = frozenset(("Path", "PurePath", "PosixPath", "set", "tuple"))
_LIST_CALLS = frozenset(("sorted", "list", "tuple", "set", "glob", "iglob", "rglob"))
_JOIN_PARTS = 2


class Texts:
    """Evaluates expressions of one module, given as all its nodes."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self._bound: dict[str, list[ast.expr]] = defaultdict(list)
        self._open: set[int] = set()  # the bindings that are being evaluated
        for node in nodes:
            for name, value in _bindings(node):
                self._bound[name].append(value)

    def values(self, name: str) -> list[ast.expr]:
        """Every expression a name is bound to, anywhere in the module."""
        return self._bound.get(name, [])

    def of(self, expr: ast.expr | None) -> list[str]:
        """The texts an expression can stand for or can hold, without doubles."""
        return list(dict.fromkeys(self._texts(expr, {}, 0)))[:_LIMIT] if expr is not None else []

    def _texts(self, expr: ast.expr, env: Mapping[str, list[str]], depth: int) -> list[str]:
        if depth > _DEPTH:
            return []
        deeper = depth + 1
        match expr:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.List() | ast.Tuple() | ast.Set():
                return [text for item in expr.elts for text in self._texts(item, env, deeper)][:_LIMIT]
            case ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self._texts(value, env, deeper)
            case ast.IfExp(body=body, orelse=orelse):
                return self._texts(body, env, deeper) + self._texts(orelse, env, deeper)
            case ast.JoinedStr(values=parts):
                return _product([self._part(part, env, deeper) for part in parts], "".join)
            case ast.BinOp():
                return self._operation(expr, env, deeper)
            case ast.Name(id=name):
                if name in env:
                    return env[name]
                return self._name(name, env, deeper)
            case ast.ListComp(elt=elt, generators=loops) | ast.GeneratorExp(elt=elt, generators=loops):
                return self._loop(elt, loops, env, deeper)
            case ast.Call():
                return self._call(expr, env, deeper)
        return []

    def _name(self, name: str, env: Mapping[str, list[str]], depth: int) -> list[str]:
        """Everything a name is bound to; a binding that uses the name itself sees its other bindings."""
        found: list[str] = []
        for value in self._bound.get(name, []):
            if id(value) in self._open or len(self._open) > _NESTED:
                continue
            self._open.add(id(value))
            found += self._texts(value, env, depth)
            self._open.discard(id(value))
        return found[:_LIMIT]

    def _part(self, part: ast.expr, env: Mapping[str, list[str]], depth: int) -> list[str]:
        value = part.value if isinstance(part, ast.FormattedValue) else part
        return self._texts(value, env, depth) or ["*"]

    def _operation(self, expr: ast.BinOp, env: Mapping[str, list[str]], depth: int) -> list[str]:
        left, right = self._texts(expr.left, env, depth), self._texts(expr.right, env, depth)
        if isinstance(expr.op, ast.Div):
            return _product([left or [""], right or ["*"]], _joined)
        if isinstance(expr.op, ast.Mod):
            return [text.replace("%s", "*").replace("%d", "*") for text in left]
        if not isinstance(expr.op, ast.Add):
            return []
        if self._is_list(expr.left, 0) or self._is_list(expr.right, 0):
            return left + right
        return _product([left or [""], right or ["*"]], "".join)

    def _loop(
        self, elt: ast.expr, loops: list[ast.comprehension], env: Mapping[str, list[str]], depth: int
    ) -> list[str]:
        inner = dict(env)
        for loop in loops:
            if isinstance(loop.target, ast.Name):
                inner[loop.target.id] = self._texts(loop.iter, inner, depth)
                if not inner[loop.target.id]:
                    return []
        return self._texts(elt, inner, depth)

    def _call(self, call: ast.Call, env: Mapping[str, list[str]], depth: int) -> list[str]:
        name = _last(call.func)
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        given = [self._texts(arg, env, depth) for arg in call.args]
        if name == "joinpath" or (name == "join" and len(given) >= _JOIN_PARTS):
            parts = given if name == "join" else [self._texts(receiver, env, depth) if receiver else [], *given]
            return _product([part or ["" if not at else "*"] for at, part in enumerate(parts)], _joined)
        if name == "join" and len(given) == 1:
            return given[0]
        if name in ("glob", "rglob") and receiver is not None and (base := self._texts(receiver, env, depth)):
            return _product([base, given[0] if given else ["*"]], _joined)
        return given[0] if name in _SAME | _PATHS and given else []

    def _is_list(self, expr: ast.expr, depth: int) -> bool:
        if isinstance(expr, ast.List | ast.Tuple | ast.ListComp | ast.Set):
            return True
        if isinstance(expr, ast.Call):
            return _last(expr.func) in _LIST_CALLS
        if isinstance(expr, ast.BinOp):
            return self._is_list(expr.left, depth) or self._is_list(expr.right, depth)
        if isinstance(expr, ast.Name) and depth < _DEPTH:
            return any(self._is_list(value, depth + 1) for value in self._bound.get(expr.id, []))
        return False


def _bindings(node: ast.AST) -> Iterable[tuple[str, ast.expr]]:
    """Names a node binds or adds to, with the expression."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            yield name, value
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend"), args=[value]):
            yield name, value


def _product(parts: list[list[str]], join: object) -> list[str]:
    assert callable(join)
    return [join(choice) for choice in itertools.islice(itertools.product(*parts), _LIMIT)]


def _joined(parts: tuple[str, ...]) -> str:
    """A path of these parts, always relative: what is in front of it is not known."""
    path = ""
    for part in (part.strip("/") for part in parts):
        if path and part.startswith(f"{path}/"):
            path = part  # found below the same folder before, so the running program holds an absolute path here
        elif part:
            path = f"{path}/{part}" if path else part
    return path


def _last(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def relative(path: str) -> str:
    """A source path in one form: ``/`` between parts, no leading ``./`` or ``/``."""
    return posixpath.normpath(path.replace("\\", "/").lstrip("/")) if path.strip("/.") else ""
