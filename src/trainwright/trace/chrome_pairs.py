"""Join begin and end events (``B``/``E`` nest per thread, ``b``/``e`` match by category and id) into slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

Row = dict[str, Any]


class PairMatcher:
    """Open begins across batches. An end closes the latest begin of its thread (or of its id)."""

    def __init__(self) -> None:
        self._open: dict[tuple[object, ...], list[Row]] = {}
        self._lonely: list[Row] = []
        self._schema: pa.Schema | None = None

    def match(self, table: pa.Table) -> Iterator[pa.Table]:
        """The slices completed by the rows of `table` (in file order), as a table of the same columns."""
        self._schema = table.schema
        done: list[Row] = []
        for row in table.to_pylist():
            phase = row["ph"]
            key = ("B", row["pid"], row["tid"]) if phase in "BE" else ("b", row["pid"], row["cat"], row["id"])
            waiting = self._open.setdefault(key, [])
            if row["ts_ns"] is None:
                self._lonely.append(row)
            elif phase in "Bb":
                waiting.append(row)
            elif waiting and waiting[-1]["ts_ns"] <= row["ts_ns"]:
                begin = waiting.pop()
                begin["dur_ns"] = row["ts_ns"] - begin["ts_ns"]
                done.append(begin)
            else:
                self._lonely.append(row)
        if done:
            yield pa.Table.from_pylist(done, schema=self._schema)

    def left(self) -> Iterator[pa.Table]:
        """Begins and ends that found no partner."""
        rows = self._lonely + [row for waiting in self._open.values() for row in waiting]
        if rows:
            yield pa.Table.from_pylist(rows, schema=self._schema)
