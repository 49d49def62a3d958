"""What is read out of one C++ or CUDA file: kernels, launches, functions, bindings and CUDA calls, by byte offsets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A ``__global__`` function; `start:end` covers its head, without the body."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A place that starts a kernel: ``kernel<<<grid, block>>>``."""

    kernel: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function with a body. `calls` are the names it calls (without namespace), kernels it launches included.

    `cuda` says that it launches a kernel, is one, or calls a CUDA library itself.
    """

    name: str
    start: int
    end: int
    calls: frozenset[str]
    cuda: bool = False


@dataclass(frozen=True, kw_only=True)
class Binding:
    """A name given to Python.

    `kind` is ``pybind``, ``library`` (a definition) or ``implementation`` (``m.impl`` of a library operator);
    `namespace` the module or library; `symbols` the functions it leads to; `keys` the dispatch keys of an
    implementation (``CUDA``).
    """

    name: str
    kind: str
    namespace: str
    symbols: tuple[str, ...]
    start: int
    end: int
    keys: str = ""


@dataclass(frozen=True, kw_only=True)
class Registration:
    """A macro at file level that makes `target` what `name` runs on a `device` (``cuda`` or ``npu``)."""

    name: str
    target: str
    device: str
    start: int


@dataclass(frozen=True, kw_only=True)
class CudaUse:
    """A call into a CUDA library: `library` for people (``cuBLAS``), `name` as written.

    `guarded`: it stands between ``#ifdef`` and ``#endif`` of a condition that holds only when CUDA is there.
    """

    library: str
    name: str
    start: int
    end: int
    guarded: bool = False


@dataclass(frozen=True, kw_only=True)
class NativeCode:
    """A whole file. `by_patterns` tells why the functions were found by text patterns, empty when by the grammar.

    What is compiled for ROCm alone is left out; `rocm` names its kernels, `rocm_at` is where the first of it stands.
    """

    kernels: tuple[Kernel, ...] = ()
    launches: tuple[Launch, ...] = ()
    functions: tuple[Function, ...] = ()
    bindings: tuple[Binding, ...] = ()
    registrations: tuple[Registration, ...] = ()
    uses: tuple[CudaUse, ...] = ()
    device_functions: tuple[str, ...] = ()
    by_patterns: str = ""
    rocm: tuple[str, ...] = ()
    rocm_at: int = -1
