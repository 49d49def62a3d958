"""CUDA kernels (``__global__``) and C++ files that call CUDA libraries: nothing of them runs on the NPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from trainwright.migrate.document import Document
from trainwright.migrate.native.code import Kernel, NativeCode
from trainwright.migrate.native.counterparts import counterpart
from trainwright.migrate.native.links import BUILD_NAME, links
from trainwright.migrate.native.read import HEADER_SUFFIXES, is_copied
from trainwright.migrate.project import NativeOperator
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import FileHook, Rule

_REWRITE = (
    "write it in Ascend C and bind it with torch_npu.utils.cpp_extension.NpuExtension or op-plugin, "
    "write it in Triton for triton-ascend, or express it in PyTorch operators"
)
_LEAVE_OUT = "Build this file without the CUDA condition; check that what is left still does what Python asks of it."
_WITHOUT_CALLS = (
    "Move the calls to PyTorch operators or to the CANN libraries (ACL, aclnn), and bind the rest with "
    "torch_npu.utils.cpp_extension.NpuExtension."
)
_EXAMPLES = "op-plugin examples; torch_npu.utils.cpp_extension.NpuExtension"
#: More names than this in one sentence help nobody.
_SHOWN = 4


def _visit(document: Document) -> Iterator[Remark]:
    code: NativeCode = document.content
    copied = is_copied(document.source.path)
    for kernel in code.kernels:
        ways = links(document.project)
        bound = ways.bound_to(kernel.name, document.source.path)
        found = _kernel(document, code, kernel, bound)
        if copied:
            found = _settled(found, _COPY, "Replace what uses the library; nothing has to be done in its sources.")
        else:
            found = _elsewhere(found, document, bound)
        yield found
    if code.rocm_at >= 0:
        yield _rocm(code)
    if code.kernels or copied:
        return
    if code.uses:
        found = _libraries(document, code)
        through = links(document.project).bound_through(document.source.path) if found.outcome == "blocked" else []
        yield _elsewhere(found, document, through)
    elif code.device_functions and not code.bindings:
        yield _device_code(document, code)


_COPY = "It belongs to a library whose sources are kept in this project."


def _elsewhere(remark: Remark, document: Document, bound: list[NativeOperator]) -> Remark:
    """The same, where the project has other implementations of all that leads to it."""
    reaches = [links(document.project).of(operator) for operator in bound]
    if bound and all(reach.npu for reach in reaches):
        why = f"The project has an implementation for the NPU in {reaches[0].npu}."
        return _settled(remark, why, "Nothing has to be done; build the extension with its NPU sources.")
    if bound and all(reach.npu or reach.cpu for reach in reaches):
        place = next(reach.cpu for reach in reaches if not reach.npu)
        why = f"The project also has an implementation for the CPU, in {place}."
        return replace(remark, detail=f"{remark.detail} {why}", outcome="manual")
    twin = re.sub(r"cuda(?=/|[^/]*$)", "npu", document.source.path)
    if twin != document.source.path and (own := _file(document, twin)):
        why = f"The project has an implementation for the NPU in {own}."
        return _settled(remark, why, "Nothing has to be done; build the extension with its NPU sources.")
    return remark


def _file(document: Document, path: str) -> str:
    """The source of this name in the project, C++ or CUDA."""
    stem = path.rpartition(".")[0]
    return next((name for name in (f"{stem}.cpp", f"{stem}.cc", path) if name in document.project.files), "")


def _rocm(code: NativeCode) -> Remark:
    """What a build with CUDA passes by."""
    names = list(dict.fromkeys(code.rocm))
    return Remark(
        number="TW605",
        start=code.rocm_at,
        end=code.rocm_at,
        title="code for ROCm",
        detail=" ".join(filter(None, [f"Kernels: {_listed(names)}." if names else "", _NOT_BUILT])),
        outcome="note",
        evidence="the conditions of the preprocessor, headers and folders in the project",
    )


_NOT_BUILT = "It is for AMD GPUs and is not built on an NPU machine; what has to be replaced is its twin for CUDA."


def _settled(remark: Remark, why: str, advice: str) -> Remark:
    """The same about a kernel that nobody has to replace."""
    return replace(remark, detail=f"{remark.detail} {why}", advice=advice, outcome="note", minutes=0)


def _kernel(document: Document, code: NativeCode, kernel: Kernel, bound: list[NativeOperator]) -> Remark:
    place = PurePosixPath(document.source.path)
    leading = [operator.name for operator in bound] if len(bound) <= _SHOWN else []  # more is a helper of many
    known = counterpart(kernel.name, *leading, place.name, place.parent.name)
    python = sorted({_python_name(operator) for operator in bound})
    reached = f"Python reaches it as {_listed(python)}." if python else "No Python name that leads to it was found."
    advice = f"{_sentence(_REWRITE)}."
    if known is not None:
        advice = f"For {known.purpose}, use {known.use}; otherwise {_REWRITE}."
    return Remark(
        number="TW605",
        start=kernel.start,
        end=kernel.end,
        title=f"CUDA kernel {kernel.name} cannot run on the NPU",
        detail=" ".join(filter(None, [_launched(document, code, kernel), reached, _read_how(code)])),
        advice=advice,
        outcome="blocked",
        minutes=120 if known is not None else 960,
        evidence="; ".join(filter(None, [known.evidence if known is not None else "", _EXAMPLES])),
        name=kernel.name,
    )


def _launched(document: Document, code: NativeCode, kernel: Kernel) -> str:
    path = document.source.path
    lines = [document.source.position(launch.start)[0] for launch in code.launches if launch.kernel == kernel.name]
    places = [f"line {line}" for line in dict.fromkeys(lines)]
    places += [
        f"{caller.name} ({caller.file}:{caller.line})"
        for caller in links(document.project).launchers(kernel.name, path)
        if caller.file != path or not lines
    ]
    return f"Launched at {_listed(places)}." if places else "No launch of it was found."


def _libraries(document: Document, code: NativeCode) -> Remark:
    libraries = list(dict.fromkeys(use.library for use in code.uses))
    first = code.uses[0]
    detail = f"Calls: {_listed(list(dict.fromkeys(use.name for use in code.uses)))}."
    header = PurePosixPath(document.source.path).suffix.lower() in HEADER_SUFFIXES
    optional = all(use.guarded for use in code.uses)
    if optional:
        detail += " All of them stand under a condition of the preprocessor that holds only with CUDA."
    elif header:
        detail += " They are compiled into the files that include this header and go away with them."
    return Remark(
        number="TW605",
        start=first.start,
        end=first.end,
        title=f"C++ code calls {_listed(libraries)}",
        detail=" ".join(filter(None, [detail, _read_how(code)])),
        advice=_LEAVE_OUT if optional else "" if header else _WITHOUT_CALLS,
        outcome="manual" if optional else "note" if header else "blocked",
        minutes=15 if optional else 0 if header else 240,
        evidence=_EXAMPLES,
        name=first.name,
    )


def _device_code(document: Document, code: NativeCode) -> Remark:
    at = document.source.data.find(b"__device__")
    return Remark(
        number="TW605",
        start=at,
        end=at + len(b"__device__"),
        title=f"CUDA device functions: {_listed(list(code.device_functions))}",
        detail="They are compiled into the kernels that include this file and go away with them.",
        outcome="note",
        evidence=_EXAMPLES,
    )


def _read_how(code: NativeCode) -> str:
    if not code.by_patterns:
        return ""
    return f"The file is {code.by_patterns}: it was searched by text patterns, so ways through it may be missing."


def _python_name(operator: NativeOperator) -> str:
    if operator.kind != "library":
        return operator.name
    library = "<name of the build>" if BUILD_NAME in operator.namespace else operator.namespace
    return f"torch.ops.{library}.{operator.name}"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


RULE = Rule(
    code="cuda-sources",
    number="TW605",
    summary="CUDA kernels, and C++ files that call CUDA libraries.",
    why="The NPU runs neither CUDA kernels nor CUDA libraries; what they compute must be written again or replaced.",
    before="__global__ void scale(float* x, float s) { x[threadIdx.x] *= s; }",
    hooks=(FileHook(languages=("cuda-source",), visit=_visit),),
)
