"""What to say about the import of a library, and about its requirement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trainwright.knowledge.libraries import Library, LibraryKind, library
from trainwright.knowledge.purposes import instead_of
from trainwright.migrate.python.usage import is_own_package
from trainwright.migrate.remark import Outcome, Remark

if TYPE_CHECKING:
    from trainwright.migrate.python.module import ImportRef, NameRef, PythonFile

_SHOWN = 3
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
    """The remark about the imports of a library in a file, at the first of them that decides.

    None for a library that is native, for typing alone, or for the project's own.
    """
    entry = library(reference.name)
    if entry is None or entry.kind != kind or not _counts(reference, file):
        return
    alike = [other for other in file.import_refs if library(other.name) == entry and _counts(other, file)]
    # one that runs in any case says more than one in a function or behind a guard
    first = min(alike, key=lambda other: (other.guarded, other.node not in file.tree.body))
    if first is reference:
        uses = list(dict.fromkeys(name for other in alike for name in _uses_of(file, other, entry)))
        lines = list(dict.fromkeys(other.node.lineno for other in alike if other.node is not reference.node))
        found = _remark(
            entry, reference.node, file, number=number, name=reference.name, guarded=reference.guarded, uses=uses
        )
        yield replace(found, detail=" ".join(filter(None, (found.detail, _again(lines)))))


def _counts(reference: ImportRef, file: PythonFile) -> bool:
    entry = library(reference.name)
    native = entry is None or entry.status == "native" or reference.typing_only
    return not native and not _is_relative(reference) and not is_own_package(reference.name, file)


def _again(lines: list[int]) -> str:
    if not lines:
        return ""
    shown = ", ".join(map(str, lines[:_SHOWN])) + (f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else "")
    return f"It is imported again in line{'s' if len(lines) > 1 else ''} {shown}."


def _uses_of(file: PythonFile, reference: ImportRef, entry: Library) -> Iterator[str]:
    """The names of a library that one import gives; those that are used of it where it is imported as a whole."""
    whole = reference.name == entry.imports[0]
    lead = f"{reference.name}."
    found = [file.named(node) for node in file.index.attributes] if whole else []
    used = [name for name in found if name.startswith(lead)]
    yield from used or [reference.name]


def use_remark(reference: NameRef, file: PythonFile, *, number: str) -> Remark:
    """The remark about the use of a library that was imported under a name which says nothing."""
    entry = library(reference.name)
    assert entry is not None, f"{reference.name} is in no library"
    return _remark(entry, reference.node, file, number=number, name=reference.name, guarded=False, uses=[])


def _remark(
    entry: Library, node: ast.AST, file: PythonFile, *, number: str, name: str, guarded: bool, uses: list[str]
) -> Remark:
    outcome, minutes, meaning = _MEANING[entry.status]
    guard = "The import is guarded: without the library the program takes another way." if guarded else ""
    start, end = file.span(node)
    own = instead_of(entry.name, uses)
    return Remark(
        number=number,
        start=start,
        end=end,
        title=f"{entry.name} {meaning}",
        detail=" ".join(part for part in ("" if own else there_is(entry), guard) if part),
        advice=sentence(own or entry.advice),
        outcome="note" if guarded else outcome,
        minutes=0 if guarded else minutes,
        evidence=entry.evidence,
        name=name,
    )


def _is_relative(reference: ImportRef) -> bool:
    return isinstance(reference.node, ast.ImportFrom) and reference.node.level > 0


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
