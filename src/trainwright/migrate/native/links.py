"""From a name Python calls to the CUDA kernels behind it, over all files of a project.

The first pass gives single steps: which function a binding names, which functions a function calls, what launches a
kernel. Names are followed to the nearest definition: the same file, then the sources of the same extension, then the
files that share the deepest folder. Arguments are never counted: any call of a bound name is a call of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePosixPath

from trainwright.migrate.project import Extension, NativeOperator, Project

#: What the build replaces by the name of the extension.
BUILD_NAME = "TORCH_EXTENSION_NAME"
#: Kinds that Python can call.
BOUND_KINDS = ("pybind", "library")
#: `Extension.module` of a variable that holds a loaded extension begins with this.
VARIABLE = "@"


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What calling a name ends in: whether CUDA is used, and the kernels found on the way, in order of place.

    `npu` and `cpu`: the file in which the project registers an implementation for that device on the way, or empty.
    `files` are all files on the way.
    """

    cuda: bool
    kernels: tuple[NativeOperator, ...] = ()
    npu: str = ""
    cpu: str = ""
    files: frozenset[str] = frozenset()

    @property
    def only_cuda(self) -> bool:
        """CUDA is used, and there is nothing for the NPU."""
        return self.cuda and not self.npu


class Links:
    """The ways through the native code of one project; see `links`."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.bound = [operator for operator in project.operators if operator.kind in BOUND_KINDS]
        self._by_name: dict[str, list[NativeOperator]] = defaultdict(list)
        for operator in self.bound:
            self._by_name[operator.name].append(operator)
        self._defined: dict[str, list[NativeOperator]] = defaultdict(list)
        self._registered: dict[str, list[NativeOperator]] = defaultdict(list)
        for operator in project.operators:
            if operator.kind in ("function", "kernel"):
                self._defined[operator.name].append(operator)
            elif operator.kind == "registration":
                self._registered[operator.name].append(operator)
        self._others = {
            device: {one.name: one.file for one in reversed(project.operators) if one.kind == device}
            for device in ("npu", "cpu")
        }
        self._units = _units(project)
        self._reach: dict[tuple[str, str, str, str], Reach] = {}
        self._callers: dict[tuple[str, str], list[NativeOperator]] | None = None

    def of(self, operator: NativeOperator) -> Reach:
        """What a bound name ends in; the implementations of a library operator count together."""
        place = operator.file if operator.kind == "pybind" else ""
        key = (operator.kind, operator.namespace, operator.name, place)
        if key not in self._reach:
            found = [other for other in self._by_name[operator.name] if _same(operator, other)]
            self._reach[key] = Reach(cuda=False) if all(map(_is_for_cpu, found)) else self._follow(found)
        return self._reach[key]

    def _follow(self, starts: Iterable[NativeOperator]) -> Reach:
        queue = list(starts)
        seen, kernels = {id(step) for step in queue}, []
        cuda = any(step.cuda for step in queue)
        names = {step.name for step in queue if step.kind == "library"}
        files = {step.file for step in queue}
        while queue:
            step = queue.pop()
            names.update(step.symbol.split())
            for name in step.symbol.split():
                for found in self._nearest(name, step.file):
                    if id(found) not in seen:
                        seen.add(id(found))
                        queue.append(found)
                        files.add(found.file)
                        cuda = cuda or found.cuda
                        kernels += [found] if found.kind == "kernel" else []
        ordered = tuple(sorted(kernels, key=lambda kernel: (kernel.file, kernel.line)))
        npu, cpu = self._for_device("npu", names), self._for_device("cpu", names)
        return Reach(cuda=cuda, kernels=ordered, npu=npu, cpu=cpu, files=frozenset(files))

    def _for_device(self, device: str, names: set[str]) -> str:
        """The file with an implementation for a device: registered, or a function called ``nms_npu``, in its folder."""
        registered = self._others[device]
        for name in sorted(names):
            if name in registered:
                return registered[name]
        for name in sorted(names):
            if name.lower().endswith(f"_{device}"):
                own = [item for item in self._defined.get(name, ()) if item.kind == "function" and not item.cuda]
                if own:
                    return own[0].file
        return ""

    def _nearest(self, name: str, file: str) -> list[NativeOperator]:
        """The definitions a name means in a file."""
        found = self._defined.get(name, [])
        if len(found) > 1:
            unit = self._units.get(file, frozenset())
            here = [item for item in found if item.file == file] or [item for item in found if item.file in unit]
            found = here or _closest(found, file)
        registered = self._registered.get(name)
        return found + _closest(registered, file) if registered else found

    def bound_to(self, kernel: str, file: str) -> list[NativeOperator]:
        """The names Python can call that end in this kernel."""
        if self._callers is None:
            self._callers = defaultdict(list)
            for operator in self.bound:
                for step in self.of(operator).kernels:
                    self._callers[(step.file, step.name)].append(operator)
        return self._callers.get((file, kernel), [])

    def bound_through(self, file: str) -> list[NativeOperator]:
        """The names Python can call whose way to CUDA leads through a file."""
        return self._passing.get(file, [])

    @cached_property
    def _passing(self) -> dict[str, list[NativeOperator]]:
        found: dict[str, list[NativeOperator]] = defaultdict(list)
        for operator in self.bound:
            for file in self.of(operator).files:
                found[file].append(operator)
        return found

    def launchers(self, kernel: str, file: str) -> list[NativeOperator]:
        """The functions that launch a kernel."""
        calling = self._calling.get(kernel, [])
        return [item for item in calling if any(found.file == file for found in self._nearest(kernel, item.file))]

    @cached_property
    def _calling(self) -> dict[str, list[NativeOperator]]:
        """Name -> the functions that call or launch it."""
        found: dict[str, list[NativeOperator]] = defaultdict(list)
        for items in self._defined.values():
            for item in items:
                for name in item.symbol.split():
                    found[name].append(item)
        return found

    @cached_property
    def modules(self) -> dict[str, Extension]:
        """Dotted names that stand for an extension: its module, and variables of Python modules that hold it."""
        paths = {facts.path: name for name, facts in self.project.modules.items()}
        found = {}
        for extension in self.project.extensions:
            name = extension.module
            if name.startswith(VARIABLE):
                module = paths.get(extension.file)
                name = f"{module}.{name[len(VARIABLE) :]}" if module else ""
            if name:
                found[name] = extension
        return found

    @cached_property
    def module_ends(self) -> frozenset[str]:
        """The last parts of the names in `modules`: a dotted name without any of them names no module."""
        return frozenset(name.rpartition(".")[2] for name in self.modules)

    def operators_of(self, extension: Extension) -> list[NativeOperator]:
        """What an extension gives to Python: by its sources, else by the module name the C++ code gives itself."""
        pybind = [operator for operator in self.bound if operator.kind == "pybind"]
        by_source = [operator for operator in pybind if is_source(extension, operator.file)]
        last = extension.module.rpartition(".")[2]
        return by_source or [operator for operator in pybind if operator.namespace == last]


def _is_for_cpu(operator: NativeOperator) -> bool:
    """Whether a binding lies in a folder for the CPU: names it shares with CUDA sources are other functions there."""
    return "cpu" in operator.file.split("/")[:-1] and not operator.cuda


def _same(one: NativeOperator, other: NativeOperator) -> bool:
    """Whether two records speak of one operator of Python."""
    if (one.kind, one.name, one.namespace) != (other.kind, other.name, other.namespace):
        return False
    return one.kind == "library" or one.file == other.file


def is_source(extension: Extension, file: str) -> bool:
    """Whether a file of the project is among the sources of an extension.

    Sources are relative to the file that declares the extension. What that file computes at run time is missing in
    front of a source; then the end of the path decides.
    """
    folder = PurePosixPath(extension.file).parent
    for source in extension.sources:
        below = str(folder / source)
        if _fits(file, below) or _fits(file, source) or ("/" in source and _fits(file, source, end=True)):
            return True
    return False


def _fits(file: str, pattern: str, *, end: bool = False) -> bool:
    """Whether a path, or the end of it, fits a pattern part by part; ``**`` stands for any folders."""
    if "**" in pattern:
        return fnmatchcase(file, f"*{pattern.replace('**/', '*')}" if end else pattern.replace("**/", "*"))
    parts, wanted = file.split("/"), pattern.split("/")
    if len(parts) < len(wanted) or (len(parts) > len(wanted) and not end):
        return False
    return all(fnmatchcase(part, want) for part, want in zip(parts[-len(wanted) :], wanted, strict=True))


def _units(project: Project) -> dict[str, frozenset[str]]:
    """For every native file, the files that are built together with it."""
    files = {operator.file for operator in project.operators}
    found: dict[str, frozenset[str]] = {}
    for extension in project.extensions:
        members = frozenset(file for file in files if is_source(extension, file))
        for file in members:
            found[file] = found.get(file, frozenset()) | members
    return found


def _closest(found: list[NativeOperator], file: str) -> list[NativeOperator]:
    """Those in the folder that shares the longest way from the root with `file`."""
    parts = file.split("/")[:-1]
    depths = [_shared(parts, item.file.split("/")[:-1]) for item in found]
    return [item for item, depth in zip(found, depths, strict=True) if depth == max(depths)]


def _shared(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


_latest: list[Links] = []


def links(project: Project) -> Links:
    """The links of a project; those of the project asked for last are kept, because every file of it asks."""
    if not _latest or _latest[0].project is not project:
        _latest[:] = [Links(project)]
    return _latest[0]
