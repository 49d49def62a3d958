"""C++ and CUDA sources: kernels, launches, bindings to Python and calls into CUDA libraries. Reported, never edited."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.native.read import SUFFIXES, native_facts
from trainwright.migrate.native.scan import scan_native
from trainwright.migrate.source import is_binary, plain_source


def _matches(path: str, head: bytes) -> bool:
    return PurePosixPath(path).suffix.lower() in SUFFIXES and not is_binary(head)


LANGUAGE = Language(
    code="cuda-source",
    summary="C++ and CUDA sources (.cu .cuh .cpp .cc .cxx .h .hpp .hip): kernels and what they give to Python.",
    matches=_matches,
    read=plain_source,
    learn=native_facts,
    scan=scan_native,
)
