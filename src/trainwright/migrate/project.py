"""What the files of a project tell each other, gathered in the first pass and merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, kw_only=True)
class Argument:
    """A command-line option a Python file declares: ``--backend`` whose values flow to `role`."""

    option: str
    dest: str


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function or method of the project: parameter names in order, and what it returns (a kind, or empty)."""

    parameters: tuple[str, ...]
    returns: str = ""


@dataclass(frozen=True, kw_only=True)
class OwnCuda:
    """A class of the project called `name` that defines ``cuda()`` itself, at a place."""

    name: str
    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class NativeOperator:
    """An operator bound to Python by a C++ or CUDA file.

    `name` is the name Python sees; `kind` is ``pybind`` or ``library`` (TORCH_LIBRARY); `namespace` the library
    namespace or ``TORCH_EXTENSION_NAME``; `cuda` says whether it can reach a CUDA kernel.
    """

    name: str
    kind: str
    namespace: str
    file: str
    line: int
    cuda: bool
    symbol: str = ""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """A Python module built out of native sources: ``CUDAExtension(name, sources)`` or ``load(name, sources)``."""

    module: str
    sources: tuple[str, ...]
    file: str
    line: int
    cuda: bool


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What one file tells the others. Every field is small and pickles.

    Args:
        path: of the file.
        language: code of the language leaf.
        module: dotted name of a Python module (``pkg.layers.attn``), empty for other files.
        exports: name bound at the top of the module -> dotted name it stands for (``torch.cuda``) when it is an alias
            or import, for re-exports across files.
        classes: class name -> dotted names of its bases.
        functions: function (or ``Class.method``) -> signature.
        constants: name bound at the top -> the string it holds.
        device_names: names (attributes, options, parameters, dictionary keys) whose value reaches a device sink here.
        backend_names: the same for the backend of torch.distributed.
        arguments: command-line options declared here.
        defines_cuda: full dotted names of classes here that define a method ``cuda``, and no ``npu``.
        operators, extensions: native code bound to Python.
        kernels: names of ``__global__`` functions.
        entry_point: the file is meant to be run.
    """

    path: str
    language: str
    module: str = ""
    exports: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    device_names: frozenset[str] = frozenset()
    backend_names: frozenset[str] = frozenset()
    arguments: tuple[Argument, ...] = ()
    defines_cuda: Mapping[str, OwnCuda] = field(default_factory=dict)
    operators: tuple[NativeOperator, ...] = ()
    extensions: tuple[Extension, ...] = ()
    kernels: tuple[str, ...] = ()
    entry_point: bool = False


@dataclass(frozen=True, kw_only=True)
class Project:
    """All facts, merged. An empty project is what a single file is scanned against."""

    modules: Mapping[str, Facts] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    device_names: frozenset[str] = frozenset()
    backend_names: frozenset[str] = frozenset()
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    defines_cuda: Mapping[str, OwnCuda] = field(default_factory=dict)
    operators: tuple[NativeOperator, ...] = ()
    extensions: tuple[Extension, ...] = ()
    entry_points: frozenset[str] = frozenset()

    @cached_property
    def module_ends(self) -> dict[str, Facts | None]:
        """Modules by the ends of their names (``src.pkg.x`` is also ``pkg.x``); None where several fit."""
        ends: dict[str, Facts | None] = {}
        for name, facts in self.modules.items():
            end = name.partition(".")[2]
            while end:
                ends[end] = None if end in ends else facts
                end = end.partition(".")[2]
        return ends

    @cached_property
    def packages(self) -> frozenset[str]:
        """Dotted names of all modules and of the packages above them."""
        found = set()
        for module in self.modules:
            name = module
            while name and name not in found:
                found.add(name)
                name = name.rpartition(".")[0]
        return frozenset(found)

    @cached_property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """Full dotted name of every class of the project -> dotted names of its bases."""
        return {
            f"{facts.module}.{name}": bases for facts in self.modules.values() for name, bases in facts.classes.items()
        }


def merged(facts: Iterable[Facts]) -> Project:
    """One project out of the facts of its files, in any order."""
    ordered = sorted(facts, key=lambda fact: fact.path)
    return Project(
        modules={fact.module: fact for fact in ordered if fact.module},
        files=frozenset(fact.path for fact in ordered),
        device_names=frozenset().union(*(fact.device_names for fact in ordered)),
        backend_names=frozenset().union(*(fact.backend_names for fact in ordered)),
        arguments={argument.option: argument for fact in ordered for argument in fact.arguments},
        defines_cuda={name: owner for fact in ordered for name, owner in fact.defines_cuda.items()},
        operators=tuple(operator for fact in ordered for operator in fact.operators),
        extensions=tuple(extension for fact in ordered for extension in fact.extensions),
        entry_points=frozenset(fact.path for fact in ordered if fact.entry_point),
    )
