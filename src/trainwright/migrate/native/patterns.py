"""Find kernels, launches, CUDA calls and functions by text patterns.

Kernels and launches stand inside macros often enough that a grammar loses them, so they are always found this way, in
text whose comments and strings are blanked. Functions are found this way only when the grammar cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainwright.migrate.native.code import CudaUse, Function, Kernel, Launch, Registration
from trainwright.migrate.native.masking import arguments, closing

_GLOBAL = re.compile(rb"\b__global__\b")
_HEAD = re.compile(rb"[\s\\]*(?:([\w#~:]+)|(<)|([*&]))")
_NOT_A_NAME = re.compile(rb"[\s\\]*\(")
_BODY = re.compile(rb"[\s\\]*([{;]?)")
_LAUNCH = re.compile(rb"<<<")
_LAUNCH_CALL = re.compile(rb"\bcuda(?:LaunchKernel|LaunchCooperativeKernel|LaunchKernelEx\w*)\s*\(")
_KERNEL_VARIABLE = re.compile(rb"\b(?:auto|void)\b[\s*&()]*?(\w+)\)?[^;={}]{0,200}=\s*&?\s*([A-Za-z_][\w:]*)\s*[<;]")
_NAME_BEFORE = re.compile(rb"([A-Za-z_][\w#]*)\s*$")
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_REGISTER = re.compile(rb"^[ \t]*(\w*REGISTER\w*)\s*\(([^;{}]*?)\)\s*;", re.MULTILINE)
_DEVICE_KEYS = {
    "cuda": frozenset(("CUDA", "kCUDA")),
    "npu": frozenset(("NPU", "PrivateUse1", "kPrivateUse1")),
    "cpu": frozenset(("CPU", "kCPU")),
}
_NO_TARGET = frozenset.union(*_DEVICE_KEYS.values(), frozenset(("at", "torch", "c10")))
_DEVICE = re.compile(rb"\b__device__\b[^;{}()]*?\b(\w+)\s*\(")
_FUNCTION = re.compile(rb"([A-Za-z_~]\w*)\s*(?:<[^;{}()]{0,200}>\s*)?\(")
_BEHIND = re.compile(rb"\s*(?:(?:const|noexcept|override|final|__restrict__)\s*)*(?:->[^;{}]{0,200})?\{")
_CALL = re.compile(rb"([A-Za-z_]\w*)\s*(?:<[^;{}()]{0,200}>\s*)?\(")
_NO_FUNCTION = frozenset(
    b"if for while switch catch return sizeof alignof decltype defined asm volatile static_assert alignas".split()
)

#: Library, as people know it, and the pattern of what calls it.
_LIBRARIES = (
    ("the CUDA runtime", rb"\bcuda[A-Z]\w*(?=\s*(?:<[^;()]{0,80}>\s*)?\()"),
    ("the CUDA driver", rb"\bcu(?:Launch|Module|Mem|Ctx|Device|Stream|Event|Tensor|Func)[A-Z]\w*(?=\s*\()"),
    ("CUDA in PyTorch", rb"\b(?:at|c10|torch)::cuda::(?!is_available|device_count|cudnn_is_available)\w+"),
    ("cuBLAS", rb"\bcublas[A-Z]\w*(?=\s*\()"),
    ("cuDNN", rb"\bcudnn[A-Z]\w*(?=\s*\()"),
    ("cuSPARSE", rb"\bcusparse[A-Z]\w*(?=\s*\()"),
    ("cuSOLVER", rb"\bcusolver[A-Z]\w*(?=\s*\()"),
    ("cuFFT", rb"\bcufft[A-Z]\w*(?=\s*\()"),
    ("cuRAND", rb"\bcurand_?\w*(?=\s*\()"),
    ("NCCL", rb"\bnccl[A-Z]\w*(?=\s*\()"),
    ("NVTX", rb"\bnvtx[A-Z]\w*(?=\s*\()"),
    ("CUTLASS", rb"\b(?:cutlass|cute)::(?!\w+_t\b(?!\s*\())\w+"),
    ("CUB", rb"\bcub::\w+"),
    ("Thrust", rb"\bthrust::\w+"),
    ("cooperative groups", rb"\bcooperative_groups\b"),
)
_USE = re.compile(b"|".join(b"(" + pattern + b")" for _, pattern in _LIBRARIES))
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b([^\n]*)", re.MULTILINE)
_CUDA_WORD = re.compile(rb"^(?!.*!\s*defined).*(?:CUDA|NVCC|GPU|HIP)")
_BEGINNING = re.compile(rb"cu[a-z]|c10::cu|at::cu|torch::cu|nccl|nvtx|thrust:|cooperative_g")
_ASSEMBLY = "inline PTX"
_PTX = re.compile(rb"\basm\s*(?:volatile\s*)?\(")


def kernels_in(masked: bytes) -> list[Kernel]:
    """Every ``__global__`` function that has a body, those inside ``#define`` included."""
    found = []
    for match in _GLOBAL.finditer(masked):
        named = _head(masked, match.end())
        if named:
            name, end = named
            found.append(Kernel(name=name, start=match.start(), end=end))
    return found


def _head(masked: bytes, at: int) -> tuple[str, int] | None:
    """Name and end of the head behind ``__global__``; None for a declaration without body.

    Words with brackets may stand before the name (``__launch_bounds__(256)``, macros): the name is the last word
    whose brackets are followed by the body.
    """
    name = ""
    for _ in range(40):
        word = _HEAD.match(masked, at)
        if word is None:
            return None
        at = closing_angle(masked, word.end() - 1) if word[2] else word.end()
        name = word[1].decode("utf-8", "replace") if word[1] else name
        if opening := _NOT_A_NAME.match(masked, at):
            at = closing(masked, opening.end() - 1)
            behind = _BODY.match(masked, at)
            if behind and behind[1]:
                return (name.rpartition("::")[2], at) if behind[1] == b"{" else None
    return None


def closing_angle(masked: bytes, at: int) -> int:
    """Offset behind the ``>`` that closes the ``<`` at `at`, within a statement; brackets are stepped over."""
    depth, index, end = 0, at, min(len(masked), at + 2000)
    while index < end:
        char = masked[index : index + 1]
        if char == b"(":
            index = closing(masked, index)
            continue
        depth += (char == b"<") - (char == b">")
        index += 1
        if not depth or char in (b";", b"{"):
            return index
    return at + 1


def launches_in(masked: bytes) -> list[Launch]:
    """Every ``kernel<<<...>>>`` and every kernel handed to ``cudaLaunchKernel``."""
    found = []
    variables = [(match.start(), match[1], match[2]) for match in _KERNEL_VARIABLE.finditer(masked)]
    for match in _LAUNCH.finditer(masked):
        at = _before_angle(masked, match.start())
        if name := _NAME_BEFORE.search(masked, max(0, at - 200), at):
            end = masked.find(b">>>", match.end(), match.end() + 2000)
            stop = end + 3 if end >= 0 else match.end()
            held = [target for start, variable, target in variables if variable == name[1] and start < match.start()]
            kernel = held[-1].rpartition(b"::")[2] if held else name[1]
            found.append(Launch(kernel=kernel.decode(), start=name.start(1), end=stop))
    for match in _LAUNCH_CALL.finditer(masked):
        end = closing(masked, match.end() - 1)
        for start, stop in arguments(masked, match.end(), end - 1):
            if names := _IDENTIFIER.findall(masked, start, stop):
                found.append(Launch(kernel=names[-1].decode(), start=match.start(), end=end))
    return found


def _before_angle(masked: bytes, at: int) -> int:
    """Where the template arguments that end before `at` begin; `at` itself when there are none."""
    first = max(0, at - 2000)
    end = first + len(masked[first:at].rstrip())
    if not end or masked[end - 1] != ord(">"):
        return end
    depth = 0
    for index in range(end - 1, first - 1, -1):
        depth += (masked[index] == ord(">")) - (masked[index] == ord("<"))
        if not depth:
            return index
    return end


def uses_in(masked: bytes, *, device_code: bool) -> list[CudaUse]:
    """Every call into a CUDA library; inline assembly only where the file is compiled for the device."""
    ranges = cuda_only_ranges(masked)
    places = [(match, _LIBRARIES[(match.lastindex or 1) - 1][0]) for match in _candidates(masked)]
    if device_code:
        places += [(match, _ASSEMBLY) for match in _PTX.finditer(masked)]
    found = [
        CudaUse(
            library=library,
            name=match[0].decode() if library != _ASSEMBLY else "asm",
            start=match.start(),
            end=match.end(),
            guarded=any(start <= match.start() < end for start, end in ranges),
        )
        for match, library in places
    ]
    return sorted(found, key=lambda use: use.start)


def _candidates(masked: bytes) -> Iterator[re.Match[bytes]]:
    """Places where a CUDA library is used; a cheap search for the first letters goes ahead of the exact patterns."""
    end = 0
    for begin in _BEGINNING.finditer(masked):
        if begin.start() >= end and (match := _USE.match(masked, begin.start())):
            end = match.end()
            yield match


def cuda_only_ranges(masked: bytes) -> list[tuple[int, int]]:
    """Text that the preprocessor keeps only when CUDA is there (``#ifdef WITH_CUDA``, ``#if USE_CUDA``)."""
    found: list[tuple[int, int]] = []
    stack: list[int | None] = []  # for every open condition, where its CUDA-only text begins
    for match in _CONDITION.finditer(masked):
        word = match[1]
        if word.startswith(b"if"):
            stack.append(match.end() if word != b"ifndef" and _CUDA_WORD.search(match[2]) else None)
        elif stack:
            start = stack.pop()
            found += [(start, match.start())] if start is not None else []
            if word != b"endif":
                stack.append(None)
    return found


def device_functions_in(masked: bytes) -> list[str]:
    """Names of ``__device__`` functions."""
    names = {match[1] for match in _DEVICE.finditer(masked) if match[1] not in _NO_FUNCTION}
    return sorted(name.decode() for name in names)


def registrations_in(masked: bytes) -> list[Registration]:
    """Macros such as ``REGISTER_DEVICE_IMPL(roi_align_impl, CUDA, roi_align_cuda);`` for CUDA or the NPU."""
    found = []
    for match in _REGISTER.finditer(masked):
        names = [name.decode() for name in _IDENTIFIER.findall(match[2])]
        words = {*names, *match[1].decode().split("_")}
        devices = [device for device, keys in _DEVICE_KEYS.items() if words & keys]
        plain = [name for name in names if name not in _NO_TARGET]
        if devices and plain:
            first, *targets = plain
            found += [Registration(name=first, target=name, device=devices[0], start=match.start()) for name in targets]
    return found


def functions_in(masked: bytes) -> list[Function]:
    """Functions with a body and the names they call, without a grammar."""
    found, at = [], 0
    while match := _FUNCTION.search(masked, at):
        at = match.end()
        end = closing(masked, match.end() - 1)
        behind = _BEHIND.match(masked, end) if match[1] not in _NO_FUNCTION else None
        if behind:
            stop = closing(masked, behind.end() - 1)
            calls = frozenset(calls_in(masked, behind.end(), stop))
            found.append(Function(name=match[1].decode(), start=match.start(), end=stop, calls=calls))
            at = stop
    return found


def calls_in(masked: bytes, start: int, end: int) -> Iterator[str]:
    """Names called between two offsets."""
    for match in _CALL.finditer(masked, start, end):
        if match[1] not in _NO_FUNCTION:
            yield match[1].decode()
