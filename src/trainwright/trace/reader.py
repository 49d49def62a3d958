"""The contract of a reader leaf: find the ranks of a format on disk, and pour one rank into a sink.

A reader knows one format. It recognises it by content (a file name is only a hint), never writes near the user's
data, and reports everything it could not use through ``sink.quality``. It translates names and kinds into those of
`trainwright.trace.schema`; whatever it does not translate goes into ``sink.reported`` tables or stays fetchable
through the ``origin`` table, so that no field is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from trainwright.core.registry import Registry

#: What `Sink.add` takes for a column: one value for all rows, or one per row.
ColumnData: TypeAlias = int | float | bool | str | Sequence[Any] | np.ndarray[Any, Any] | pa.Array | None

#: How a rank was found, best first (see `trainwright.trace.discover`).
RankOrigin = Literal["file name", "metadata", "device map", "database name", "content", "order", "duplicate"]


#: What a source may fill. ``events`` is everything joined by event numbers (slices, ops, kernels, collectives, links,
#: flows, instants, origin, groups) together with ``steps``, so that one clock and one numbering rule.
PARTS = ("events", "memory", "counters", "reported", "meta")


@dataclass(frozen=True, kw_only=True)
class Folder:
    """One folder of the user's input, as the readers see it: entries that no earlier reader has taken."""

    path: Path
    files: tuple[Path, ...]
    folders: tuple[Path, ...]

    def named(self, name: str) -> Path | None:
        """The file or folder of exactly this name, or None."""
        for entry in (*self.files, *self.folders):
            if entry.name == name:
                return entry
        return None


@dataclass(frozen=True, kw_only=True)
class RankSource:
    """What one rank (one profiled process) left on disk, and who can read it.

    `path` is the folder of the rank (or its only file): two sources of one path, such as the text and the database
    form side by side, are poured into one store. `files` are all files that `Reader.read` will open: they form the
    cache key. `covers` are the entries of the folder (files or whole sub-folders) that belong to this source and that
    no other reader needs to look at.

    `offers` says how good this source is for each part (see `PARTS`); where two sources of one path offer the same
    part, the higher number fills it. `takes` is the outcome, set by `trainwright.trace.discover`: `Reader.read` pours
    the parts for which `wants` is true.
    """

    reader: str
    path: Path
    files: tuple[Path, ...]
    rank: int | None = None
    rank_origin: RankOrigin = "order"
    covers: tuple[Path, ...] = ()
    offers: Mapping[str, int] = field(default_factory=dict)
    takes: frozenset[str] | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def wants(self, part: str) -> bool:
        """Whether this source is the one to fill `part`."""
        assert part in PARTS, f"unknown part {part}"
        return self.takes is None or part in self.takes


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A path that is not read, and why, in words for the user."""

    path: Path
    reason: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a reader recognises in one folder."""

    sources: tuple[RankSource, ...] = ()
    refusals: tuple[Refusal, ...] = ()


class Sink(Protocol):
    """Where a reader pours a rank. Implemented by `trainwright.trace.store.RankWriter`."""

    def file(self, path: Path) -> int:
        """Number of a source file, for ``origin`` rows; repeated calls give the same number."""

    def track(
        self,
        *,
        process: str,
        thread: str,
        pid: str = "",
        tid: str = "",
        side: Literal["host", "device"],
        stream: int = -1,
        device: int = -1,
        sort: int = 0,
    ) -> int:
        """Number of a track; repeated calls with the same (pid, tid, process, thread) give the same number."""

    def label(
        self,
        track: int,
        *,
        process: str | None = None,
        thread: str | None = None,
        side: str | None = None,
        stream: int | None = None,
        device: int | None = None,
        sort: int | None = None,
    ) -> None:
        """Change what is known about a track, for formats that name their rows at the end."""

    def shift(self, ns: int) -> None:
        """Add `ns` to every time poured so far: formats may give the base of their clock at the end."""

    def events(self, count: int) -> int:
        """Reserve `count` event numbers and return the first. Counts as events read."""

    def add(self, table: str, **columns: ColumnData) -> None:
        """Append rows to a table of the schema; columns left out take their default.

        Text columns take str, None, sequences of them, or Arrow string or dictionary arrays. Integer columns take
        integers only: readers convert times with exact arithmetic before they come here. Rows of ``slices`` name
        their ``track``; the store works out ``lane``, ``parent`` and ``self_ns``.
        """

    def reported(self, name: str, columns: Mapping[str, ColumnData], *, file: Path) -> None:
        """Keep a table of the source as it is, under ``reported_<name>``, for SQL and for comparison with ours."""

    def meta(self, key: str, value: Any) -> None:
        """Keep something the source says about the run (JSON-able)."""

    def describe(self, *, device: str | None = None, host: str | None = None) -> None:
        """Name the device (model) and the host of the rank, as far as the source says."""

    def used(self, table: str, file: Path) -> None:
        """Record which file a table was filled from, shown to the user as the source of the table."""

    def lost(self, count: int = 1) -> None:
        """Count events that could not be read (say why through `quality` too)."""

    def repaired(self, count: int = 1) -> None:
        """Count events that were damaged and could be read after repair (say how through `quality` too)."""

    def quality(
        self, code: str, *, count: int = 1, example: str = "", file: Path | None = None, offset: int | None = None
    ) -> None:
        """Report something missing, damaged or odd. Entries of the same code and file add up."""

    def progress(self, done: int, total: int) -> None:
        """Bytes worked through so far, and in all."""


class Reader(Protocol):
    """The contract of a reader leaf (module constant ``READER``)."""

    @property
    def code(self) -> str:
        """Name of the leaf."""

    @property
    def summary(self) -> str:
        """One sentence for the catalogue: which files it reads."""

    @property
    def priority(self) -> int:
        """Readers are asked in this order; formats that take whole folders come first."""

    def find(self, folder: Folder) -> Found:
        """Recognise ranks of this format directly in `folder` (sub-folders are walked by the caller).

        Opens files only as far as needed to recognise them. Never raises for hostile content: what looks like this
        format but cannot be read becomes a refusal.
        """

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour the rank into `sink`.

        Raises:
            InputError: nothing of the rank can be read; the message says why.
        """


READERS: Registry[Reader] = Registry(kind="reader", package="trainwright.trace.readers", constant="READER")
