"""What to say about the import of a library, and about its requirement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainwright.migrate.knowledge.libraries import Library, LibraryKind, library
from trainwright.migrate.knowledge.usage import is_own_package
from trainwright.migrate.remark import Outcome, Remark

if TYPE_CHECKING:
    from trainwright.migrate.python.module import ImportRef, NameRef, PythonFile

#: Status -> outcome, minutes for a person, and what is the case.
_MEANING: dict[str, tuple[Outcome, int, str]] = {
    "native": ("note", 0, "knows the NPU"),
    "plugin": ("manual", 15, "needs a plugin on the NPU"),
    "adaptor": ("manual", 30, "needs an adaptor on the NPU"),
    "partial": ("manual", 30, "works on the NPU in part"),
    "replace": ("manual", 60, "is not on the NPU, but there is a replacement"),
    "port": ("manual", 60, "has to be ported to the NPU"),
    "none": ("blocked", 120, "has no NPU counterpart"),
}


def import_remarks(reference: ImportRef, file: PythonFile, *, number: str, kind: LibraryKind) -> Iterator[Remark]:
    """The remark about an import; none for a library that is native, for typing alone, or for the project's own."""
    entry = library(reference.name)
    if entry is None or entry.kind != kind or entry.status == "native" or reference.typing_only:
        return
    if _is_relative(reference) or is_own_package(reference.name, file) or not _is_first(reference, file, entry):
        return
    yield _remark(entry, reference.node, file, number=number, name=reference.name, guarded=reference.guarded)


def use_remark(reference: NameRef, file: PythonFile, *, number: str) -> Remark:
    """The remark about the use of a library that was imported under a name which says nothing."""
    entry = library(reference.name)
    assert entry is not None, f"{reference.name} is in no library"
    return _remark(entry, reference.node, file, number=number, name=reference.name, guarded=False)


def _remark(entry: Library, node: ast.AST, file: PythonFile, *, number: str, name: str, guarded: bool) -> Remark:
    outcome, minutes, meaning = _MEANING[entry.status]
    guard = "The import is guarded: without the library the program takes another way." if guarded else ""
    start, end = file.span(node)
    return Remark(
        number=number,
        start=start,
        end=end,
        title=f"{entry.name} {meaning}",
        detail=" ".join(part for part in (there_is(entry), guard) if part),
        advice=sentence(entry.advice),
        outcome="note" if guarded else outcome,
        minutes=0 if guarded else minutes,
        evidence=entry.evidence,
        name=name,
    )


def _is_relative(reference: ImportRef) -> bool:
    return isinstance(reference.node, ast.ImportFrom) and reference.node.level > 0


def _is_first(reference: ImportRef, file: PythonFile, entry: Library) -> bool:
    """Whether this is the first name of its statement that belongs to the library: one remark per statement."""
    for alias in reference.node.names:
        if library(file.imported(reference.node, alias)) == entry:
            return alias is reference.alias
    return True


def there_is(entry: Library) -> str:
    """What is there for the NPU, and from which version."""
    parts = []
    if entry.min_version:
        parts.append(f"It works from version {entry.min_version}.")
    if entry.replacement_distribution:
        nearest = "nearest package" if entry.status == "none" else "package"
        parts.append(f"The {nearest} for the NPU is {entry.replacement_distribution}.")
    if entry.replacement_import.startswith(("torch_npu.", "torch.npu.")):
        parts.append(f"torch_npu has {entry.replacement_import}.")
    return " ".join(parts)


def sentence(text: str) -> str:
    """A clause as a sentence: capital letter, full stop."""
    return f"{text[0].upper()}{text[1:]}." if text else ""
