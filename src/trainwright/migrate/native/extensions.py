"""Find the Python modules that a project builds out of C++ and CUDA: ``CUDAExtension``, ``CppExtension``, ``load``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Protocol

from trainwright.migrate.native.links import VARIABLE
from trainwright.migrate.native.paths import Texts, relative
from trainwright.migrate.project import Extension


class Named(Protocol):
    """What an expression resolves to; only its canonical dotted name matters here."""

    @property
    def name(self) -> str:
        """Such as ``torch.utils.cpp_extension.load``."""


Resolve = Callable[[ast.expr], Named | None]

_PACKAGE = "torch.utils.cpp_extension."
#: The functions that make an extension, and the arguments that come first.
_MAKERS = {
    f"{_PACKAGE}CUDAExtension": ("name", "sources"),
    f"{_PACKAGE}CppExtension": ("name", "sources"),
    f"{_PACKAGE}load": ("name", "sources"),
    f"{_PACKAGE}load_inline": ("name", "cpp_sources", "cuda_sources"),
    "setuptools.Extension": ("name", "sources"),
    "setuptools.extension.Extension": ("name", "sources"),
}
_LOADERS = (f"{_PACKAGE}load", f"{_PACKAGE}load_inline")
_BUILD_WORDS = ("cpp_extension", "setuptools", "Extension")
_CUDA_SUFFIXES = (".cu", ".cuh")


def extensions_of(tree: ast.Module, resolve: Resolve, *, file: str = "") -> list[Extension]:
    """Every extension a Python file declares, in order.

    A variable that holds a loaded extension is a second entry, with ``@`` and the name of the variable for the module.
    """
    nodes = list(ast.walk(tree))
    if not any(map(_speaks_of_builds, nodes)):
        return []
    texts = Texts(nodes)
    variables = {
        id(node.value): target.id
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for call in nodes:
        if not isinstance(call, ast.Call) or not (makers := makers_of(call, resolve, texts)):
            continue
        given = arguments_of(call, _MAKERS[makers[0]])
        sources = tuple(filter(None, (relative(text) for text in texts.of(given.get("sources")))))
        cuda = is_cuda(makers, sources, given)
        if makers[0].startswith("setuptools.") and not cuda:
            continue
        names = [*(texts.of(given.get("name")) or [""])]
        if makers[0] in _LOADERS and id(call) in variables:
            names.append(VARIABLE + variables[id(call)])
        found += [Extension(module=name, sources=sources, file=file, line=call.lineno, cuda=cuda) for name in names]
    return sorted(found, key=lambda extension: extension.line)


def _speaks_of_builds(node: ast.AST) -> bool:
    """Whether a node names the modules that make extensions; a file without any has none."""
    match node:
        case ast.ImportFrom(module=str(module), names=names):
            return any(word in f"{module} {' '.join(alias.name for alias in names)}" for word in _BUILD_WORDS)
        case ast.Import(names=names):
            return any(word in alias.name for alias in names for word in _BUILD_WORDS)
        case ast.Attribute(attr=name):
            return name == "cpp_extension"
    return False


def makers_of(call: ast.Call, resolve: Resolve, texts: Texts) -> list[str]:
    """The functions a call may be of, when all of them make extensions; a variable may hold one of several."""
    if not isinstance(call.func, ast.Name | ast.Attribute):
        return []
    resolved = resolve(call.func)
    names = [resolved.name] if resolved is not None else []
    if isinstance(call.func, ast.Name) and not any(name in _MAKERS for name in names):
        values = [resolve(value) for value in texts.values(call.func.id) if isinstance(value, ast.Name | ast.Attribute)]
        names = [value.name for value in values if value is not None]
    return sorted({name for name in names if name in _MAKERS}, key=list(_MAKERS).index)


def arguments_of(call: ast.Call, order: tuple[str, ...]) -> dict[str, ast.expr]:
    """Arguments by name; positional ones by their order."""
    given = dict(zip(order, call.args, strict=False))
    return given | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def is_cuda(makers: list[str], sources: tuple[str, ...], given: dict[str, ast.expr]) -> bool:
    """Whether building the extension needs CUDA."""
    if f"{_PACKAGE}CUDAExtension" in makers or "cuda_sources" in given or "extra_cuda_cflags" in given:
        return True
    with_cuda = given.get("with_cuda")
    if isinstance(with_cuda, ast.Constant) and with_cuda.value is True:
        return True
    return any(source.endswith(_CUDA_SUFFIXES) for source in sources)
