"""Open the store: memory-mapped columns of one rank, and the ranks of a run.

A rank is a folder of Arrow IPC files (see `trainwright.trace.schema` for the tables) with a manifest. Opening reads
the manifest only; a column is mapped when it is first asked for and costs no copy.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.errors import StoreError
from trainwright.core.result import Quality
from trainwright.trace.columns import NUMPY_TYPES
from trainwright.trace.discover import RankUnit
from trainwright.trace.rank_folder import read_manifest
from trainwright.trace.schema import TABLES

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class RankStore:
    """The columns of one rank.

    `rank` comes from the run the store is opened in: the store itself is keyed by content and does not know it.
    """

    folder: Path
    unit: RankUnit

    @property
    def rank(self) -> int:
        """The rank's number in its run."""
        return self.unit.rank

    def __getstate__(self) -> dict[str, object]:
        """Only what identifies the store travels to a worker; columns are mapped again there."""
        return {"folder": self.folder, "unit": self.unit}

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What the ingest recorded: counts, device, host, files, sources of tables, quality."""
        manifest = read_manifest(self.folder)
        if manifest is None:
            raise self._gone()
        return manifest

    def _gone(self) -> StoreError:
        return StoreError(
            f"the store of {self.unit.path} was cleared or damaged meanwhile",
            todo="run the command again: it is read again",
        )

    @property
    def start_ns(self) -> int:
        """Start of the first slice; slices whose time cannot be right are left out (see `trainwright.trace.stray`)."""
        return int(self.manifest["start_ns"])

    @property
    def end_ns(self) -> int:
        """End of the last of these slices."""
        return int(self.manifest["end_ns"])

    @property
    def device(self) -> str:
        """Device model, ``"cpu"`` where the source shows no device."""
        return self.manifest["device"] or "cpu"

    @property
    def host(self) -> str:
        """Host name, empty where the source does not say."""
        return self.manifest["host"] or ""

    @property
    def quality(self) -> list[Quality]:
        """Trouble found in the rank's sources."""
        return [Quality(**entry) for entry in self.manifest["quality"]]

    @cached_property
    def table_names(self) -> list[str]:
        """Tables that have rows."""
        return sorted(self.manifest["tables"])

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        return {}

    def table(self, name: str) -> pa.Table:
        """A whole table, memory-mapped; empty (with the schema's columns) where the rank has no rows."""
        if name not in self._tables:
            self._tables[name] = self._open(name) if name in self.manifest["tables"] else _empty(name)
        return self._tables[name]

    def _open(self, name: str) -> pa.Table:
        try:
            with pa.memory_map(os.fsencode(self.folder / f"{name}.arrow")) as file:
                return pa.ipc.open_file(file).read_all()
        except (OSError, pa.ArrowException) as error:
            raise self._gone() from error

    def rows(self, table: str) -> int:
        """Number of rows."""
        return int(self.table(table).num_rows)

    def column(self, table: str, name: str) -> npt.NDArray[Any]:
        """A number column, (rows,), without a copy. Text columns give their codes, -1 for null."""
        data = self.table(table).column(name)
        if data.num_chunks == 0:
            return np.empty(0, NUMPY_TYPES[TABLES[table].column(name).type])
        chunk = data.chunk(0)
        if isinstance(chunk, pa.DictionaryArray):
            indices = chunk.indices
            return np.frombuffer(indices.buffers()[1], np.int32, count=len(indices), offset=4 * indices.offset)
        return np.asarray(chunk.to_numpy(zero_copy_only=False))

    def texts(self, table: str, name: str) -> list[str]:
        """The distinct texts of a text column, by code."""
        data = self.table(table).column(name)
        if data.num_chunks == 0:
            return []
        texts: list[str] = data.chunk(0).dictionary.to_pylist()
        return texts

    def where(self, table: str, name: str, *texts: str) -> npt.NDArray[np.bool_]:
        """Mask, (rows,), of the rows whose text column holds one of `texts`."""
        wanted = np.array([text in texts for text in self.texts(table, name)] + [False])
        return np.asarray(wanted[self.column(table, name)])

    def in_span(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Those of `rows` of `slices` that start within the span of the rank: a stray one belongs to no step."""
        start = self.column("slices", "start_ns")[rows]
        return np.asarray(rows[(start >= self.start_ns) & (start <= self.end_ns)], np.int64)

    def kind(self, *kinds: str) -> npt.NDArray[np.int64]:
        """Rows of `slices` of the given kinds."""
        return np.flatnonzero(self.where("slices", "kind", *kinds))


@dataclass(frozen=True, kw_only=True)
class Run:
    """All ranks of one input, in rank order, and what was wrong with the input as a whole."""

    ranks: list[RankStore]
    quality: list[Quality] = field(default_factory=list)

    @property
    def all_quality(self) -> list[Quality]:
        """Trouble of the run and of every rank."""
        return [*self.quality, *(entry for rank in self.ranks for entry in rank.quality)]


def _empty(name: str) -> pa.Table:
    """A table of the schema without rows."""
    assert name in TABLES, f"no table {name} in this rank"
    fields = [
        (column.name, pa.dictionary(pa.int32(), pa.string()) if column.type == "text" else NUMPY_TYPES[column.type])
        for column in TABLES[name].columns
    ]
    return pa.schema(
        [pa.field(key, kind if isinstance(kind, pa.DataType) else pa.from_numpy_dtype(kind)) for key, kind in fields]
    ).empty_table()
