"""Collect the slices of an Ascend database as the columns of a timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.ascend_capture import Arrows, Capture, Track
from trainwright.trace.columns import TextPool
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

_TYPES: dict[str, Any] = {
    "event": np.int32, "track": np.int32, "start": np.int64, "dur": np.int64, "name": np.int32, "category": np.int32,
    "task_type": np.int32, "id": np.int64,
}  # fmt: skip
_ARGUMENTS = {
    "tasks": {
        "Task Type": pa.string(), "Physic Stream Id": pa.int64(), "Stream Id": pa.int64(), "Task Id": pa.int64(),
        "data size(Byte)": pa.int64(),
    },
    "comms": {"data_type": pa.string(), "alg_type": pa.string(), "count": pa.int64(), "rank_size": pa.int64()},
    "links": {
        "task_type": pa.string(), "stream_id": pa.int64(), "task_id": pa.int64(), "src rank": pa.int64(),
        "dst rank": pa.int64(), "transport type": pa.string(), "link type": pa.string(), "size(Byte)": pa.int64(),
        "bandwidth(GB/s)": pa.float64(),
    },
}  # fmt: skip


class Rows:
    """Slices with their arguments, in the order in which they are added."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._parts: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in _TYPES}
        self._arguments: dict[str, list[pa.Table]] = {name: [] for name in _ARGUMENTS}
        self.names = TextPool()
        self._categories, self._task_types = TextPool(), TextPool()
        self._tracks: dict[int, Track] = {}

    def track(
        self,
        *,
        process: str,
        thread: str,
        pid: str,
        tid: str,
        side: Literal["host", "device"],
        stream: int = -1,
        device: int = -1,
    ) -> int:
        """Number of a track, see `trainwright.trace.reader.Sink.track`."""
        number = self._sink.track(
            process=process, thread=thread, pid=pid, tid=tid, side=side, stream=stream, device=device
        )
        self._tracks.setdefault(number, Track(number=number, process=process, thread=thread, pid=pid, tid=tid))
        return number

    def threads(self, layer: str, global_tids: I64) -> I32:
        """Tracks of the threads of a layer, (N,), by ids that hold the process in their upper 32 bits."""
        distinct, at = np.unique(global_tids, return_inverse=True)
        tracks = [
            self.track(process=layer, thread=f"Thread {tid & 0xFFFFFFFF}", pid=str(tid >> 32),
                       tid=str(tid & 0xFFFFFFFF), side="host")
            for tid in distinct.tolist()
        ]  # fmt: skip
        return np.array(tracks, np.int32)[at.reshape(-1)]

    def add(
        self,
        *,
        track: I32,
        start: I64,
        dur: I64,
        name: pa.Array | I32,
        category: pa.Array | str | None = None,
        task_type: pa.Array | None = None,
        number: I64 | None = None,
    ) -> I64:
        """Add slices; their event numbers, (N,).

        `name` is text or codes of `names`; `number` the id that joins slices, -1 for none.
        """
        rows = len(start)
        first = self._sink.events(rows)
        event = np.arange(first, first + rows)
        columns: dict[str, npt.NDArray[Any]] = {
            "event": event.astype(np.int32),
            "track": track,
            "start": start,
            "dur": dur,
            "name": name if isinstance(name, np.ndarray) else self.names.encode(name, rows),
            "category": self._categories.encode(category, rows),
            "task_type": self._task_types.encode(task_type, rows),
            "id": np.full(rows, -1, np.int64) if number is None else number,
        }
        for key, values in columns.items():
            self._parts[key].append(values)
        return event

    def argue(self, kind: str, event: I64, columns: Mapping[str, pa.Array | npt.NDArray[Any] | None]) -> None:
        """Add arguments of slices: ``tasks``, ``comms`` or ``links``; columns left out are null."""
        arrays = {"event": pa.array(event.astype(np.int32))}
        for name, dtype in _ARGUMENTS[kind].items():
            values = columns.get(name)
            if values is None:
                values = pa.nulls(len(event), dtype)
            array = values if isinstance(values, pa.Array) else pa.array(values)
            arrays[name] = array.cast(dtype)
        self._arguments[kind].append(pa.table(arrays))

    def capture(self, arrows: Mapping[str, Arrows]) -> Capture:
        """All slices as a timeline; the columns collected so far are given up."""
        columns: dict[str, Any] = {}
        for name, dtype in _TYPES.items():
            parts = self._parts.pop(name)
            columns[name] = np.concatenate(parts).astype(dtype, copy=False) if parts else np.empty(0, dtype)
        for kind, types in _ARGUMENTS.items():
            schema = pa.schema([pa.field("event", pa.int32()), *(pa.field(*item) for item in types.items())])
            tables = self._arguments.pop(kind)
            columns[kind] = pa.concat_tables(tables).cast(schema) if tables else schema.empty_table()
        return Capture(
            **columns, names=self.names, categories=self._categories.texts(), task_types=self._task_types.texts(),
            tracks=self._tracks, arrows=dict(arrows),
        )  # fmt: skip
