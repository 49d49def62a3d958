"""What a Python file tells the other files of its project."""

from __future__ import annotations

import ast
import re

from trainwright.migrate.native.extensions import extensions_of
from trainwright.migrate.options import Options
from trainwright.migrate.project import Argument, Facts, Function, Project
from trainwright.migrate.python import own_cuda
from trainwright.migrate.python.flow import Flow, option_dest
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.names import module_name
from trainwright.migrate.python.parse import parsed
from trainwright.migrate.source import Source

#: A file without any of these has nothing to tell: no device, no class of torch, no native module, no option.
_WORDS = re.compile(rb"torch|cuda|nccl|device|backend|add_argument|Extension|__main__|nn\.Module|import_module")
#: Packages whose re-exports matter to others.
_ROOTS = frozenset(
    {"torch", "torchvision", "torchaudio", "torch_npu", "apex", "flash_attn", "xformers", "triton", "cupy"}
)
#: Too general a name to say anything about a value elsewhere.
_GENERAL = frozenset(
    {"self", "x", "args", "kwargs", "name", "value", "input", "data", "type", "model", "other", "dtype", "param"}
)


def learn_python(source: Source) -> Facts:
    """The facts of a file; next to none when it cannot be parsed."""
    worth = source.name == "__init__.py" or _WORDS.search(source.data)  # a package may only hand names on
    tree = parsed(source) if worth else None
    if tree is None:
        return Facts(path=source.path, language="python", module=module_name(source.path))
    file = PythonFile(source=source, tree=tree, project=Project(), options=Options())
    devices, backends = _sink_names(file)
    return Facts(
        path=source.path,
        language="python",
        module=module_name(source.path),
        exports=_exports(file),
        classes={node.name: tuple(filter(None, map(file.named, node.bases))) for node in _top(file, ast.ClassDef)},
        functions=_functions(file),
        constants=_constants(file),
        device_names=devices,
        backend_names=backends - devices,
        arguments=_arguments(file),
        defines_cuda=own_cuda.learned(file),
        extensions=tuple(extensions_of(tree, file.resolve, file=source.path)),
        entry_point=_is_entry_point(tree),
    )


def _top(file: PythonFile, kind: type[ast.ClassDef]) -> list[ast.ClassDef]:
    return [node for node in file.index.classes if isinstance(node, kind)]


def _exports(file: PythonFile) -> dict[str, str]:
    """Names at the top that stand for something of torch or of another module of the project."""
    found = {}
    for name, bindings in file.index.module.bindings.items():
        if len(bindings) != 1 or bindings[0].kind not in ("import", "value"):
            continue
        binding = bindings[0]
        if binding.kind == "import":
            target = file.names.absolute(binding.target)
            relative = binding.target.startswith(".")
        else:
            target, relative = file.named(binding.value), False
        if target and target != name and (relative or "." in target or target.partition(".")[0] in _ROOTS):
            found[name] = target
    return found


def _functions(file: PythonFile) -> dict[str, Function]:
    """Functions at the top whose result is known to be a tensor, a module or a device."""
    found = {}
    for node in file.tree.body:
        if isinstance(node, ast.FunctionDef) and (kind := _result(file, node)):
            names = tuple(arg.arg for arg in (*node.args.posonlyargs, *node.args.args))
            found[node.name] = Function(parameters=names, returns=kind)
    return found


def _result(file: PythonFile, function: ast.FunctionDef) -> str:
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    kinds = {file.kind(value) for value in returned}
    kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind in ("tensor", "module", "device") else ""


def _constants(file: PythonFile) -> dict[str, str]:
    found = {}
    for name, bindings in file.index.module.bindings.items():
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "value" else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and len(value.value) < 64:
            found[name] = value.value
    return found


def _sink_names(file: PythonFile) -> tuple[frozenset[str], frozenset[str]]:
    """Attributes, parameters and names whose value is handed straight to a device or backend sink of torch."""
    flow = Flow(file)
    found: dict[str, set[str]] = {"device": set(), "backend": set(), "tensor_type": set()}
    for node in file.index.calls:
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            name = _carried(argument)
            if not name or name in _GENERAL:
                continue
            role = flow.direct(argument)
            if role is not None and role.confidence == "resolved":
                found[role.kind].add(name)
    return frozenset(found["device"]), frozenset(found["backend"])


def _carried(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.slice.value
    return ""


def _arguments(file: PythonFile) -> tuple[Argument, ...]:
    found = []
    for call in file.index.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument" and (dest := option_dest(call)):
            for flag in call.args:
                if isinstance(flag, ast.Constant) and str(flag.value).startswith("-"):
                    found.append(Argument(option=str(flag.value), dest=dest))
    return tuple(found)


def _is_entry_point(tree: ast.Module) -> bool:
    tests = (node.test for node in tree.body if isinstance(node, ast.If))
    return any(
        isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
        for test in tests
    )
