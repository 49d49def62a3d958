"""The database that Ascend profilers export: its tables by present and older names, texts behind ids, times.

``ascend_pytorch_profiler_{rank}.db``, ``ascend_mindspore_profiler_{rank}.db`` and ``msprof_*.db`` share one schema.
Times are nanoseconds, sizes bytes. Nearly every text is an id of the table ``STRING_IDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright.trace.ascend_names import NOTHING
from trainwright.trace.reader import Sink
from trainwright.trace.sqlite import Database
from trainwright.trace.sqlite_cells import Batch

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

#: Applied to the distinct texts of a column.
Clean = Callable[[pa.Array], pa.Array]

#: Older names of tables and columns, by the name of today.
RENAMED = {
    "CANN_API": ("API",),
    "startNs": ("start", "startTime"),
    "endNs": ("end", "endTime"),
    "timestampNs": ("timestamp",),
    "globalTaskId": ("correlationId",),
    "connectionId": ("correlationId",),
    "blockDim": ("block_dim", "blockNum", "block_num"),
    "ddr": ("ddrUsage",),
    "hbm": ("hbmUsage",),
}
#: Levels of host calls and sorts of framework events; files before 2024 may lack the table.
API_TYPES = {
    5000: "runtime", 5500: "hccl", 10000: "node", 15000: "model", 20000: "acl", 25000: "pta", 30000: "pytorch",
    50001: "op", 50002: "queue", 50003: "trace", 50004: "mstx",
}  # fmt: skip
#: A row at time 0 is set aside when the others are at least this far away (1000 s).
QUARANTINE_DISTANCE_NS = 10**12
UNNAMED = "(unnamed)"


class Strings:
    """The texts of ``STRING_IDS``."""

    def __init__(self, ids: I64, texts: pa.Array) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids = ids[order]
        self._texts = texts.take(pa.array(order))

    def rows(self, ids: I64) -> I64:
        """Row of each id, (N,), for `texts`; -1 for an id without text."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int64)
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[at] == ids, at, -1)

    def texts(self, rows: I64, clean: Clean | None = None) -> pa.DictionaryArray:
        """Text of each row, (N,), with only those in the dictionary that occur; `clean` is applied to these."""
        used = np.zeros(len(self._texts) + 1, np.bool_)
        used[rows] = True  # -1 marks the place behind the last text
        used[-1] = False
        words = self._texts.take(pa.array(np.flatnonzero(used)))
        if clean is not None:
            words = clean(words)
        if words.null_count:  # a dictionary with nulls cannot be joined with another
            used[np.flatnonzero(used)[np.asarray(words.is_null().to_numpy(zero_copy_only=False))]] = False
            words = words.drop_null()
        number = np.cumsum(used) - 1
        indices = pa.array(number[rows].astype(np.int32), mask=~used[rows])
        return pa.DictionaryArray.from_arrays(indices, words)


class AscendDb:
    """One database of a rank and the sink it is poured into; use as a context manager.

    Raises:
        InputError: the file cannot be read as a SQLite file.
    """

    def __init__(self, path: Path, sink: Sink) -> None:
        self.path = path
        self.sink = sink
        self.database = Database(path, self.trouble, RENAMED)
        #: Tables that were poured by name; what is left is kept as it is.
        self.poured: set[str] = {"STRING_IDS"}
        self._enums: dict[str, Strings] = {}

    def __enter__(self) -> AscendDb:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.database.__exit__(kind, value, traceback)

    def trouble(self, code: str, count: int, example: str) -> None:
        """Report damage; what cannot be read counts as lost."""
        self.sink.quality(code, count=count, example=example, file=self.path)
        if code in ("corrupt-table", "table-unreadable"):
            self.sink.lost(count)

    def batches(self, table: str, columns: Sequence[str]) -> Iterator[Batch]:
        """Batches of a table by today's names; the table counts as poured."""
        self.leave_out(table)
        return self.database.batches(table, columns)

    def leave_out(self, *tables: str) -> None:
        """Tables that are not to be kept as they are: they are poured, or another source of the rank gives the same."""
        for table in tables:
            found = self.database.find(table)
            if found is not None:
                self.poured.add(found.name.upper())

    def has_rows(self, table: str) -> bool:
        """Whether a table is there and holds anything that can be read."""
        found = self.database.find(table)
        return found is not None and next(self.database.batches(table, found.columns[:1]), None) is not None

    @cached_property
    def strings(self) -> Strings:
        """All texts of the database."""
        return self._strings("STRING_IDS", "value")

    def _strings(self, table: str, column: str) -> Strings:
        ids, texts = [np.empty(0, np.int64)], [pa.array([], pa.string())]
        for batch in self.batches(table, ("id", column)):
            numbers, ok = batch.numbers("id")
            ids.append(numbers[ok])
            texts.append(batch.texts(column).filter(pa.array(ok)))
        return Strings(np.concatenate(ids), pa.concat_arrays(texts))

    def texts(self, batch: Batch, column: str, clean: Clean | None = None) -> pa.DictionaryArray:
        """The texts behind a column of string ids, (rows,); null where a row has no id. A column of text is itself."""
        if batch.is_text(column):
            return (batch.texts(column) if clean is None else clean(batch.texts(column))).dictionary_encode()
        ids, known = batch.numbers(column)
        rows = np.where(known, self.strings.rows(ids), -1)
        missing = np.count_nonzero(known & (rows < 0))
        if missing:
            example = f"{batch.table}.{column}: no text for {ids[known & (rows < 0)][0]}"
            self.trouble("missing-string", int(missing), example)
        return self.strings.texts(rows, clean)

    def names(self, batch: Batch, column: str) -> pa.DictionaryArray:
        """`texts` with a word for what has none."""
        texts = self.texts(batch, column)
        if not texts.null_count:
            return texts
        return texts.cast(pa.string()).fill_null(UNNAMED).dictionary_encode()  # of one type in every batch

    def enum(self, batch: Batch, column: str, table: str) -> pa.DictionaryArray:
        """The texts behind a column whose ids a table of its own explains, or ``STRING_IDS`` where that is missing."""
        if self.database.find(table) is None and table != "ENUM_API_TYPE":
            return self.texts(batch, column)
        if table not in self._enums:
            self._enums[table] = self._strings(table, "name")
            if table == "ENUM_API_TYPE" and self.database.find(table) is None:
                known = sorted(API_TYPES)
                self._enums[table] = Strings(np.array(known, np.int64), pa.array([API_TYPES[key] for key in known]))
        enum = self._enums[table]
        return enum.texts(enum.rows(batch.ints(column)))

    def ids(self, batch: Batch, column: str) -> I64:
        """Whole numbers, (rows,), with -1 for none, also where msprof writes the largest unsigned number."""
        numbers = batch.ints(column)
        return np.where(numbers == NOTHING, -1, numbers)

    def spans(self, batch: Batch) -> tuple[Batch, I64, I64]:
        """The rows that have a time, their starts and durations; the others are counted as lost."""
        start, has_start = batch.numbers("startNs")
        end, has_end = batch.numbers("endNs")
        timed = has_start & has_end
        start, dur, kept = start[timed], (end - start)[timed], timed
        if not timed.all():
            self._lose("no-time", batch, int(np.count_nonzero(~timed)))
        zero = (start == 0) & (dur == 0)
        if zero.any() and np.abs(start).max() >= QUARANTINE_DISTANCE_NS:
            self._lose("time-zero", batch, int(np.count_nonzero(zero)))
            kept = timed.copy()
            kept[timed] = ~zero
            start, dur = start[~zero], dur[~zero]
        return (batch if kept.all() else batch.only(kept)), start, dur

    def stamps(self, batch: Batch, column: str = "timestampNs") -> tuple[Batch, I64]:
        """The rows that have a time, and it; the others are counted as lost."""
        time, timed = batch.numbers(column)
        if timed.all():
            return batch, time
        self._lose("no-time", batch, int(np.count_nonzero(~timed)))
        return batch.only(timed), time[timed]

    def _lose(self, code: str, batch: Batch, count: int) -> None:
        self.sink.events(count)
        self.sink.lost(count)
        self.sink.quality(code, count=count, example=f"{batch.table}: {count} row(s) left out", file=self.path)


def is_one_of(texts: pa.DictionaryArray, *words: str) -> Bool:
    """Mask, (N,), of the rows with one of these texts."""
    wanted = np.array([word in words for word in texts.dictionary.to_pylist()] + [False])
    return np.asarray(wanted[texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)])


def said(texts: pa.Array) -> pa.Array:
    """Texts without quotes and blanks around them; null for what stands for nothing."""
    bare = pc.utf8_trim(texts, characters=' "\t\r\n')
    return pc.if_else(pc.is_in(bare, pa.array(["", "N/A"])), None, bare)
