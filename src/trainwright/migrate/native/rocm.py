"""Native code that is compiled for ROCm alone: no part of a build with CUDA, so that none of it is ported."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

Ranges = list[tuple[int, int]]

#: Words of the names of folders and files that hold code for AMD GPUs (``flash_attn_ck`` is composable_kernel).
_FOLDER = frozenset(("rocm", "hip", "amd", "ck"))
_FILE = frozenset(("rocm", "hip"))
_ROCM_WORD = re.compile(rb"ROCM|__HIP|HIPCC|HIP_PLATFORM|HIP_VERSION|__GFX|__gfx|__AMD", re.IGNORECASE)
_ANY = re.compile(rb"(?i:rocm|hip)|__GFX|__gfx")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_NEGATED = re.compile(rb"^\s*\(*\s*!")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)', re.MULTILINE)
_HIP_HEADER = re.compile(rb"^(?:hip/|hip_|rocprim|hipcub|ck/|ck_tile|ATen/hip|c10/hip)")
_CUDA_HEADER = re.compile(rb"cuda|cublas|cudnn|curand|cub/|cutlass", re.IGNORECASE)


def is_rocm_path(path: str) -> bool:
    """Whether a file lies in a folder for AMD GPUs, or says so by its name."""
    *folders, name = path.lower().split("/")
    stem = set(re.split(r"[_\-.]", PurePosixPath(name).stem))
    own = name.endswith(".hip") or (not _FILE.isdisjoint(stem) and "cuda" not in stem)
    return own or any(not _FOLDER.isdisjoint(re.split(r"[_\-.]", folder)) for folder in folders)


def rocm_ranges(path: str, commentless: bytes, masked: bytes) -> Ranges:
    """The parts of a file that only a compiler for ROCm sees."""
    if is_rocm_path(path):
        return [(0, len(masked))]
    if not _ANY.search(masked) and not _ANY.search(commentless):
        return []
    ranges = _conditional(masked)
    headers = [match for match in _INCLUDE.finditer(commentless) if not within(match.start(), ranges)]
    hip = any(_HIP_HEADER.match(match[1]) for match in headers)
    if hip and not any(_CUDA_HEADER.search(match[1]) for match in headers):
        return [(0, len(masked))]
    return ranges


def within(at: int, ranges: Ranges) -> bool:
    """Whether an offset lies in one of the ranges."""
    return any(start <= at < end for start, end in ranges)


def _conditional(masked: bytes) -> Ranges:
    """Text under conditions of the preprocessor that hold with ROCm alone (``#ifdef USE_ROCM``)."""
    found: Ranges = []
    stack: list[tuple[int | None, bool]] = []  # where ROCm-only text began; whether an earlier branch took the others
    for match in _CONDITION.finditer(masked):
        word, test = match[1], match[2]
        if word.startswith(b"if"):
            only, others = _judged(test, negated=word == b"ifndef")
            stack.append((match.end() if only else None, others))
        elif stack:
            start, taken = stack.pop()
            found += [(start, match.start())] if start is not None else []
            if word != b"endif":
                only, others = _judged(test) if word == b"elif" else (False, False)
                stack.append((match.end() if only or taken else None, taken or others))
    return found


def _judged(test: bytes, *, negated: bool = False) -> tuple[bool, bool]:
    """Whether a condition holds with ROCm alone, and whether it fails with ROCm alone."""
    choices = [[_term(term) for term in choice.split(b"&&")] for choice in test.split(b"||")]
    only = all(any(term > 0 for term in choice) for choice in choices)
    fails = any(len(choice) == 1 and choice[0] < 0 for choice in choices)
    if negated:
        return False, len(choices) == 1 and choices[0] == [1]
    return only, fails


def _term(term: bytes) -> int:
    """1: holds with ROCm alone, -1: holds without ROCm, 0: says nothing about it."""
    if not _ROCM_WORD.search(term):
        return 0
    return -1 if _NEGATED.match(term) else 1
