"""What is there for a third-party library on the NPU: found by the name it is imported or installed by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from trainwright.knowledge.tables import read_rows

#: ``native``: knows the NPU. ``plugin``: knows it with another package. ``adaptor``: another package takes over its
#: names. ``partial``: some of it works. ``replace``: something else does the same. ``port``: its kernels have to be
#: ported. ``none``: there is nothing.
LibraryStatus = Literal["native", "plugin", "adaptor", "partial", "replace", "port", "none"]
#: ``gpu``: the library drives the GPU itself (a compiler, a driver interface, GPU data frames).
LibraryKind = Literal["library", "gpu"]


@dataclass(frozen=True, kw_only=True)
class Library:
    """One row of the table.

    Args:
        name: what people call it.
        imports: dotted names it is imported by.
        distributions: names it is installed by, normalised.
        min_version: the first version that the rest speaks of; empty when no source names one.
        replacement_distribution: what to install instead or beside it; may be empty.
        replacement_import: what to import instead; may be empty.
        advice: the way out.
        evidence: where this comes from.
    """

    name: str
    imports: tuple[str, ...]
    distributions: tuple[str, ...]
    kind: LibraryKind
    status: LibraryStatus
    min_version: str
    replacement_distribution: str
    replacement_import: str
    advice: str
    evidence: str


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(part for part in cell.split(",") if part)


@cache
def libraries() -> tuple[Library, ...]:
    """Every library of the table."""
    return tuple(_libraries())


def _libraries() -> Iterator[Library]:
    for name, imports, distributions, kind, status, version, instead, module, advice, evidence in read_rows(
        "libraries.tsv"
    ):
        yield Library(
            name=name,
            imports=_listed(imports),
            distributions=tuple(map(normal_name, _listed(distributions))),
            kind=kind,  # type: ignore[arg-type]  # a test holds the table to these words
            status=status,  # type: ignore[arg-type]
            min_version=version,
            replacement_distribution=instead,
            replacement_import=module,
            advice=advice,
            evidence=evidence,
        )


@cache
def _by_import() -> dict[str, Library]:
    return {name: entry for entry in libraries() for name in entry.imports}


@cache
def _by_distribution() -> dict[str, Library]:
    return {name: entry for entry in libraries() for name in entry.distributions}


def roots(kind: LibraryKind) -> tuple[str, ...]:
    """First parts of the names that libraries of a kind are imported by."""
    return tuple(sorted({name.split(".")[0] for entry in libraries() if entry.kind == kind for name in entry.imports}))


def library(dotted: str) -> Library | None:
    """The library an imported name belongs to (``flash_attn.bert_padding``, ``numba.cuda``); None when unknown."""
    while dotted:
        if found := _by_import().get(dotted):
            return found
        dotted = dotted.rpartition(".")[0]
    return None


def distribution(name: str) -> Library | None:
    """The library a requirement installs (``flash-attn``, ``Flash_Attn``); None when unknown."""
    return _by_distribution().get(normal_name(name))


def normal_name(name: str) -> str:
    """A distribution name as indexes compare them: lower case, one ``-`` for each run of ``-``, ``_`` and ``.``."""
    return re.sub(r"[-_.]+", "-", name).lower()
