"""Which values the parameters of a Triton kernel get: from ``triton.Config``, from call sites, from defaults."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainwright.migrate.python.module import PythonFile

#: More combinations than this are not tried; the first ones count.
LIMIT = 128
_CONFIG = "triton.Config"
_AUTOTUNE = "triton.autotune"
Setting = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One ``kernel[grid](...)``: the expression of the grid and the whole numbers given by the call."""

    call: ast.Call
    grid: ast.expr
    values: Setting


def launches_of(file: PythonFile, kernel: ast.FunctionDef) -> list[Launch]:
    """The launches of a kernel in its own file, in order."""
    names = [argument.arg for argument in (*kernel.args.posonlyargs, *kernel.args.args)]
    found = []
    for call in file.index.calls:
        target = call.func
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == kernel.name:
            given = dict(zip(names, call.args, strict=False))
            given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
            values = {name: number for name, node in given.items() if (number := _whole(file, node)) is not None}
            found.append(Launch(call=call, grid=target.slice, values=values))
    return found


def settings_of(file: PythonFile, kernel: ast.FunctionDef) -> list[Setting]:
    """Every combination of a configuration and a launch, over the defaults; one empty setting when there is none."""
    defaults = dict(_defaults(file, kernel))
    configs: list[Setting] = list(itertools.islice(_configs(file, kernel), LIMIT)) or [{}]
    launches: list[Setting] = [launch.values for launch in launches_of(file, kernel)] or [{}]
    pairs = itertools.islice(itertools.product(configs, launches), LIMIT)
    return [{**defaults, **launch, **config} for config, launch in pairs]


def _defaults(file: PythonFile, kernel: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    arguments = [*kernel.args.posonlyargs, *kernel.args.args]
    with_default = arguments[len(arguments) - len(kernel.args.defaults) :]
    pairs = [*zip(with_default, kernel.args.defaults, strict=True)]
    pairs += [(arg, node) for arg, node in zip(kernel.args.kwonlyargs, kernel.args.kw_defaults, strict=True) if node]
    for argument, node in pairs:
        if (number := _whole(file, node)) is not None:
            yield argument.arg, number


def _configs(file: PythonFile, kernel: ast.FunctionDef) -> Iterator[Setting]:
    for decorator in kernel.decorator_list:
        if isinstance(decorator, ast.Call) and file.named(decorator.func) == _AUTOTUNE:
            given = {keyword.arg: keyword.value for keyword in decorator.keywords}
            configs = given.get("configs") or (decorator.args[0] if decorator.args else None)
            if configs is not None:
                yield from _listed(file, configs, {}, 0)


def _listed(file: PythonFile, node: ast.expr, env: Setting, depth: int) -> Iterator[Setting]:
    """The configurations an expression holds: a list, a comprehension, a name, a function that returns one."""
    if depth > 8:
        return
    match node:
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            for item in elts:
                yield from _listed(file, item, env, depth + 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _listed(file, left, env, depth + 1)
            yield from _listed(file, right, env, depth + 1)
        case ast.Starred(value=value):
            yield from _listed(file, value, env, depth + 1)
        case ast.ListComp(elt=elt, generators=loops):
            for inner in itertools.islice(_loops(file, loops, env), LIMIT):
                yield from _listed(file, elt, inner, depth + 1)
        case ast.Name():
            for binding in file.bindings(node):
                if binding.value is not None:
                    yield from _listed(file, binding.value, env, depth + 1)
        case ast.Call():
            yield from _called(file, node, env, depth)


def _called(file: PythonFile, node: ast.Call, env: Setting, depth: int) -> Iterator[Setting]:
    if file.named(node.func) == _CONFIG:
        table = node.args[0] if node.args else None
        if isinstance(table, ast.Dict):
            yield dict(_entries(file, table, env))
        return
    returned = [config for value in _returned(file, node.func) for config in _listed(file, value, env, depth + 1)]
    yield from returned
    if not returned:  # a function that only adds to the list it is given
        for argument in node.args:
            yield from _listed(file, argument, env, depth + 1)


def _returned(file: PythonFile, func: ast.expr) -> Iterator[ast.expr]:
    """What a function of this module can return."""
    for function in file.tree.body:
        if isinstance(func, ast.Name) and isinstance(function, ast.FunctionDef) and function.name == func.id:
            for part in ast.walk(function):
                if isinstance(part, ast.Return) and part.value is not None:
                    yield part.value


def _entries(file: PythonFile, table: ast.Dict, env: Setting) -> Iterator[tuple[str, int]]:
    for key, value in zip(table.keys, table.values, strict=True):
        number = _whole(file, value, env)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and number is not None:
            yield key.value, number


def _loops(file: PythonFile, loops: list[ast.comprehension], env: Setting) -> Iterator[Setting]:
    """The values of the variables of a comprehension."""
    if not loops:
        yield env
        return
    first, *rest = loops
    items = _sequence(file, first.iter)
    for number in items or [None]:
        named = {first.target.id: number} if isinstance(first.target, ast.Name) and number is not None else {}
        yield from _loops(file, rest, {**env, **named})


def _sequence(file: PythonFile, node: ast.expr) -> Sequence[int | None]:
    if isinstance(node, ast.Name):
        bound = [binding.value for binding in file.bindings(node) if binding.value is not None]
        return _sequence(file, bound[0]) if len(bound) == 1 else []
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_whole(file, item) for item in node.elts]
    if isinstance(node, ast.Call) and file.constant(node.func) is None and isinstance(node.func, ast.Name):
        ends = [_whole(file, argument) for argument in node.args]
        if node.func.id == "range" and ends and None not in ends:
            return list(range(*[end for end in ends if end is not None]))[:LIMIT]
    return []


def _whole(file: PythonFile, node: ast.expr, env: Setting | None = None) -> int | None:
    """A whole number (True and False count as 1 and 0), or None."""
    if env and isinstance(node, ast.Name) and node.id in env:
        return env[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = _whole(file, node.left, env), _whole(file, node.right, env)
        return base**power if base is not None and power is not None and 0 <= power < 32 else None
    value = file.constant(node)
    return int(value) if isinstance(value, int) else None
