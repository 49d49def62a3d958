"""TW601: an import of a library that is not on the NPU as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainwright.knowledge.libraries import roots
from trainwright.migrate.python.library_imports import import_remarks
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import ImportHook, Rule

if TYPE_CHECKING:
    from trainwright.migrate.python.module import ImportRef, PythonFile


def visit(reference: ImportRef, file: PythonFile) -> Iterator[Remark]:
    """One remark per import statement and library."""
    return import_remarks(reference, file, number="TW601", kind="library")


RULE = Rule(
    code="library-imports",
    number="TW601",
    summary="Libraries that need another version, a plugin, an adaptor or a replacement on the NPU.",
    why="A library with CUDA kernels of its own cannot be installed or fails at the first call on the NPU.",
    before="from flash_attn import flash_attn_func",
    hooks=(ImportHook(roots=roots("library"), visit=visit),),
)
