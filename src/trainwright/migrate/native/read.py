"""Read one C++ or CUDA file: what is in it, and the facts it tells the rest of the project."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from trainwright.migrate.native.bindings import bindings_in
from trainwright.migrate.native.code import Binding, Function, NativeCode
from trainwright.migrate.native.grammar import parsed_functions
from trainwright.migrate.native.masking import without_comments, without_strings
from trainwright.migrate.native.patterns import (
    device_functions_in,
    functions_in,
    kernels_in,
    launches_in,
    registrations_in,
    uses_in,
)
from trainwright.migrate.native.rocm import Ranges, rocm_ranges, within
from trainwright.migrate.project import Facts, NativeOperator
from trainwright.migrate.source import Source

SUFFIXES = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hip", ".inl")
HEADER_SUFFIXES = (".cuh", ".h", ".hh", ".hpp", ".inl")
#: Folders in which projects keep the sources of others.
_COPIED = frozenset(("third_party", "third-party", "thirdparty", "3rdparty", "vendor", "external", "submodules"))
#: Libraries of CUDA templates that projects copy, with a folder ``include`` of their own.
_LIBRARIES = frozenset(("cutlass", "composable_kernel", "cub", "thrust", "googletest"))
#: Compiled for the device: assembly in them is the GPU's.
DEVICE_SUFFIXES = (".cu", ".cuh", ".hip")
#: A file without any of these words can hold no kernel, no binding and no function between the two.
_WORDS = re.compile(
    rb"(?i:cuda)|__global__|__device__|<<<|PYBIND11_MODULE|TORCH_LIBRARY|\bTensor\b|cublas|cudnn|thrust|cutlass|nccl"
)
#: The grammar takes the blocks that bind names for functions.
_BLOCK = re.compile(r"PYBIND11_MODULE|(?:STABLE_)?TORCH_LIBRARY")
#: Larger files are generated; the grammar would take seconds and memory for nothing.
LARGE_BYTES = 5 * 1024 * 1024


def is_copied(path: str) -> bool:
    """Whether a file lies among the sources of another project that are kept in this one."""
    folders = path.lower().split("/")[:-1]
    return not _COPIED.isdisjoint(folders) or any(
        name in _LIBRARIES and above != "include" for above, name in itertools.pairwise(folders)
    )


def native_code(source: Source, *, functions: bool = True) -> NativeCode:
    """Everything found in a file; nothing when no word of it speaks of CUDA, of tensors or of a binding.

    Without `functions` the grammar is not asked, which is most of the time.
    """
    data = source.data
    if not _WORDS.search(data):
        return NativeCode()
    commentless, masked = without_comments(data), without_strings(data)
    device = PurePosixPath(source.path).suffix.lower() in DEVICE_SUFFIXES
    rocm = rocm_ranges(source.path, commentless, masked)
    every = kernels_in(masked)
    kernels = [kernel for kernel in every if not within(kernel.start, rocm)]
    launches = [launch for launch in launches_in(masked) if not within(launch.start, rocm)]
    calls = uses_in(masked, device_code=device)
    uses = [use for use in calls if not within(use.start, rocm)]
    large = len(data) > LARGE_BYTES
    plain = (functions_in(masked) if large else parsed_functions(data)) if functions else []
    plain = [function for function in plain if not within(function.start, rocm)]
    marks_of_all = [kernel.start for kernel in every] + [use.start for use in calls]
    left_out = [start for start in marks_of_all if within(start, rocm)]
    marks = sorted([launch.start for launch in launches] + [use.start for use in uses])
    names = {kernel.name for kernel in kernels}
    launched = sorted({(launch.start, launch.kernel) for launch in launches} | set(_mentions(masked, names)))
    return NativeCode(
        kernels=tuple(kernels),
        launches=tuple(launches),
        functions=tuple(_judged(function, marks, launched, names) for function in plain),
        bindings=tuple(_bindings(commentless, masked, rocm)),
        registrations=tuple(entry for entry in registrations_in(masked) if not within(entry.start, rocm)),
        uses=tuple(uses),
        device_functions=() if within(0, rocm) else tuple(device_functions_in(masked)),
        by_patterns=f"larger than {LARGE_BYTES // 1024**2} MiB" if large else "",
        rocm=tuple(kernel.name for kernel in every if within(kernel.start, rocm)),
        rocm_at=min(left_out, default=-1),
    )


def _bindings(commentless: bytes, masked: bytes, rocm: Ranges) -> Iterator[Binding]:
    """The bindings; one that is compiled for ROCm alone leads nowhere."""
    for binding in bindings_in(commentless, masked):
        yield replace(binding, symbols=(), keys="") if within(binding.start, rocm) else binding


def _mentions(masked: bytes, kernels: set[str]) -> Iterator[tuple[int, str]]:
    """Where kernels of the file are named: macros and wrappers that launch what they are given."""
    if kernels:
        words = "|".join(re.escape(name) for name in sorted(kernels, key=len, reverse=True))
        for match in re.finditer(rf"\b(?:{words})\b".encode(), masked):
            yield match.start(), match[0].decode()


def _judged(function: Function, marks: list[int], launched: list[tuple[int, str]], kernels: set[str]) -> Function:
    """A function with the kernels it launches among its calls, and whether it uses CUDA itself."""
    at = bisect.bisect_left(marks, function.start)
    cuda = function.name in kernels or (at < len(marks) and marks[at] < function.end)
    first = bisect.bisect_left(launched, (function.start, ""))
    last = bisect.bisect_left(launched, (function.end, ""))
    calls = function.calls | {kernel for _, kernel in launched[first:last] if kernel != function.name}
    return Function(name=function.name, start=function.start, end=function.end, calls=calls, cuda=cuda)


def native_facts(source: Source) -> Facts:
    """What other files need: bindings, kernels, and the functions on the way from one to the other.

    The steps between a binding and a kernel are given as operators, too, of the kinds ``kernel``, ``function`` (the
    symbol is the list of names it calls), ``registration`` (of an implementation for CUDA), ``npu`` and ``cpu``.
    ``trainwright.migrate.native.links`` puts them together.
    """
    code = native_code(source)
    facts = _Recorder(source)
    direct = {function.name for function in code.functions if function.cuda}
    for binding in code.bindings:
        if binding.keys == "PrivateUse1":
            facts.add(binding.start, binding.name, "npu", binding.symbols, False, binding.namespace)
            continue
        if binding.keys == "CPU":
            facts.add(binding.start, binding.name, "cpu", binding.symbols, False, binding.namespace)
        cuda = "CUDA" in binding.keys or bool(direct & set(binding.symbols))
        kind = "pybind" if binding.kind == "pybind" else "library"
        facts.add(binding.start, binding.name, kind, binding.symbols, cuda, binding.namespace)
    for kernel in code.kernels:
        facts.add(kernel.start, kernel.name, "kernel", (), True)
    kernels = {kernel.name for kernel in code.kernels}
    for function in code.functions:
        if function.name not in kernels and not _BLOCK.match(function.name):
            facts.add(function.start, function.name, "function", sorted(function.calls), function.cuda)
    for entry in code.registrations:
        kind = "registration" if entry.device == "cuda" else entry.device
        facts.add(entry.start, entry.name, kind, (entry.target,), False)
    return Facts(
        path=source.path,
        language="cuda-source",
        operators=tuple(facts.operators),
        kernels=tuple(kernel.name for kernel in code.kernels),
    )


class _Recorder:
    """Collects operators of one file; counts lines once."""

    def __init__(self, source: Source) -> None:
        self._path = source.path
        self._newlines = [match.start() for match in re.finditer(rb"\n", source.data)]
        self.operators: list[NativeOperator] = []

    def add(self, start: int, name: str, kind: str, symbols: Sequence[str], cuda: bool, namespace: str = "") -> None:
        """One more operator, found at a byte offset."""
        self.operators.append(
            NativeOperator(
                name=name,
                kind=kind,
                namespace=namespace,
                file=self._path,
                line=bisect.bisect_left(self._newlines, start) + 1,
                cuda=cuda,
                symbol=" ".join(symbols),
            )
        )
