"""Take in the timeline of an Ascend profiler (``trace_view.json``, ``msprof_*.json``) whole, before it is poured.

What a slice is can only be told when the whole file has been seen: the labels of rows may stand at its end, and which
host call launched a task is told by arrows. So slices and the ends of arrows are kept here as columns; everything else
(counters, instants, details of operators, the places of events) goes straight on to the store.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright.trace.ascend_names import one_line, one_per_line
from trainwright.trace.chrome import Dialect, TrackPlace, pour_events
from trainwright.trace.columns import TextPool
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

_OPERATOR = ("Sequence number", "Fwd thread id", "Input Dims", "Input type", "Call stack")
#: Columns of a task on a hardware stream, of a communication operator, and of a task inside one.
_TASK = ("Task Type", "Physic Stream Id", "Stream Id", "Task Id", "data size(Byte)")
_COMM = ("data_type", "alg_type", "count", "rank_size")
_LINK = ("task_type", "stream_id", "task_id", "src rank", "dst rank", "transport type", "link type", "size(Byte)",
         "bandwidth(GB/s)")  # fmt: skip
_ARGUMENTS = {
    "Sequence number": "BIGINT", "Fwd thread id": "BIGINT", "Input Dims": "VARCHAR", "Input type": "VARCHAR",
    "Call stack": "VARCHAR", "correlation_id": "BIGINT", "connection_id": "BIGINT", "Task Type": "VARCHAR",
    "Physic Stream Id": "BIGINT", "Stream Id": "BIGINT", "Task Id": "BIGINT", "data size(Byte)": "BIGINT",
    "data_type": "VARCHAR", "alg_type": "VARCHAR", "count": "BIGINT", "rank_size": "BIGINT", "task_type": "VARCHAR",
    "stream_id": "BIGINT", "task_id": "BIGINT", "src rank": "BIGINT", "dst rank": "BIGINT",
    "transport type": "VARCHAR", "link type": "VARCHAR", "size(Byte)": "BIGINT", "bandwidth(GB/s)": "DOUBLE",
}  # fmt: skip
#: Communication tasks spell in small letters what hardware tasks spell in capitals, and DuckDB takes both for one.
_RENAMES = (
    (b'"stream id":', b'"stream_id":'),
    (b'"task id":', b'"task_id":'),
    (b'"task type":', b'"task_type":'),
)
#: Arrows that say who launched a task: operator to task, and host call to task.
_ARROWS = ("async_npu", "HostToDevice")
#: Labels of the processes that show hardware streams, and communication.
HARDWARE = "Ascend Hardware"
COMM_LAYERS = ("HCCL", "Communication")
_DEVICE_LABEL = re.compile(r"\(NPU ?(\d*)\)$")
#: Process ids made by msprof carry the device in their last bits (pid << 10 | order << 5 | device).
_DEVICE_BITS = 31
_MADE_PID = 1 << 10


@dataclass(kw_only=True)
class Track:
    """A row of the timeline: labels as the file gives them at its end."""

    number: int
    process: str
    thread: str
    pid: str
    tid: str

    @property
    def device(self) -> int:
        """The device of a row that belongs to one, else -1."""
        found = _DEVICE_LABEL.search(self.process)
        if found is None and self.layer not in (HARDWARE, *COMM_LAYERS):
            return -1
        if found is not None and found.group(1):
            return int(found.group(1)[:6])
        pid = int(self.pid) if self.pid.isdecimal() and len(self.pid) < 19 else 0
        return pid & _DEVICE_BITS if pid >= _MADE_PID else 0

    @property
    def layer(self) -> str:
        """The process label without what stands in brackets behind it."""
        return self.process.partition(" (")[0].strip()

    @property
    def stream(self) -> int:
        """The stream of a hardware row, else -1."""
        if self.layer != HARDWARE:
            return -1
        text = self.thread.removeprefix("Stream").strip() if self.thread.startswith("Stream") else self.tid
        return int(text) if text.isdecimal() and len(text) < 19 else -1


@dataclass(frozen=True, kw_only=True)
class Arrows:
    """Ends of arrows of one category, (N,) each: id (a number given here), track, time; `start` tells which end."""

    ids: I64
    track: I32
    ts_ns: I64
    start: Bool


@dataclass(frozen=True, kw_only=True)
class Capture:
    """The slices of a timeline, (N,) each, and what else is needed to tell what they are.

    `name`, `category` and `task_type` are codes of `names`, `categories` and `task_types` (-1: none). `id` is the
    connection id of a task or host call, the correlation id of a queue entry, else -1. `tasks`, `comms` and `links`
    are arguments of device tasks, communication operators and communication tasks, by ``event``.
    """

    event: I32
    track: I32
    start: I64
    dur: I64
    name: I32
    category: I32
    task_type: I32
    id: I64
    names: TextPool
    categories: list[str]
    task_types: list[str]
    tracks: dict[int, Track]
    arrows: dict[str, Arrows]
    tasks: pa.Table
    comms: pa.Table
    links: pa.Table

    def extended(self, *, event: I32, track: I32, start: I64, dur: I64, name: I32) -> Capture:
        """The capture with more slices, of which nothing else is known."""
        none = np.full(len(event), -1, np.int64)
        return replace(
            self,
            event=np.concatenate([self.event, event]),
            track=np.concatenate([self.track, track]),
            start=np.concatenate([self.start, start]),
            dur=np.concatenate([self.dur, dur]),
            name=np.concatenate([self.name, name]),
            category=np.concatenate([self.category, none.astype(np.int32)]),
            task_type=np.concatenate([self.task_type, none.astype(np.int32)]),
            id=np.concatenate([self.id, none]),
        )


def capture_trace(path: Path, sink: Sink, *, counters: bool = True) -> Capture:
    """Read a timeline; slices and arrows come back, the rest is poured into `sink` (arrows too, to be drawn).

    Args:
        path: the file.
        sink: where the rest goes.
        counters: whether sampled values are wanted.

    Raises:
        InputError: the file holds no event array, or none of its events can be read.
    """
    tap = _Tap(sink, without=("slices",) if counters else ("slices", "counters"))
    pour_events(path, cast(Sink, tap), _dialect(tap))
    return tap.capture()


def empty_capture() -> Capture:
    """A timeline without anything, for ranks that left only tables."""
    return _Tap(cast(Sink, None), without=()).capture()


def pour_counters(path: Path, sink: Sink) -> None:
    """Pour only the counters of a timeline, for ranks whose slices come from elsewhere."""
    tap = _CounterTap(sink)
    pour_events(path, cast(Sink, tap), Dialect(kind_of=_undecided, place=_nowhere))


def _dialect(tap: _Tap) -> Dialect:
    return Dialect(
        arguments=_ARGUMENTS, renames=_RENAMES, kind_of=_undecided, place=_nowhere, details=tap.gather,
    )  # fmt: skip


def _undecided(_process: str, _thread: str, _cat: str, _name: str) -> str:
    return "other"


def _nowhere(_process: str, _thread: str, _pid: str, _tid: str, _kind: str) -> TrackPlace:
    return TrackPlace()


class _Tap:
    """A sink that keeps slices, arrows and labels, and hands on everything else."""

    def __init__(self, sink: Sink, *, without: tuple[str, ...]) -> None:
        self._sink = sink
        self._without = without
        self._columns: dict[str, list[npt.NDArray[Any]]] = {}
        self._pools = {name: TextPool() for name in ("name", "category", "task_type")}
        self._tables: dict[str, list[pa.Table]] = {"tasks": [], "comms": [], "links": []}
        self._ids = TextPool()
        self._arrows: dict[str, list[tuple[I64, I32, I64, Bool]]] = {name: [] for name in _ARROWS}
        self.tracks: dict[int, Track] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)

    def track(self, **fields: Any) -> int:
        """See `Sink.track`; remembers the row."""
        number = self._sink.track(**fields)
        texts = {key: fields.get(key, "") for key in ("process", "thread", "pid", "tid")}
        self.tracks.setdefault(number, Track(number=number, **texts))
        return number

    def label(self, track: int, **fields: Any) -> None:
        """See `Sink.label`; remembers the labels."""
        for key in ("process", "thread"):
            if fields.get(key) is not None:
                setattr(self.tracks[track], key, fields[key])
        self._sink.label(track, **fields)

    def add(self, table: str, **columns: Any) -> None:
        """See `Sink.add`; slices are kept back, see `gather`."""
        if table in self._without:
            return
        if table == "flows":
            self._keep_arrows(columns)
        self._sink.add(table, **columns)

    def _keep_arrows(self, columns: dict[str, Any]) -> None:
        phase = columns["phase"]
        if phase not in ("s", "f"):
            return
        category, number = columns["category"].combine_chunks(), columns["id"]
        text = self._ids.encode(columns["id_text"], len(number)).astype(np.int64)
        ids = np.where(number.is_valid(), _numbers(number, -1), -2 - text)
        for name, parts in self._arrows.items():
            mine = np.flatnonzero(pc.equal(category, name).to_numpy(zero_copy_only=False))
            if len(mine):
                start = np.full(len(mine), phase == "s")
                parts.append((ids[mine], columns["track"][mine], columns["ts_ns"][mine], start))

    def gather(self, table: pa.Table, sink: Sink) -> None:
        """Keep a batch of slices and pour the details of its operators."""
        rows = table.num_rows
        kept = {
            "event": table["event"].to_numpy(),
            "track": table["track"].to_numpy(),
            "start": table["start_ns"].to_numpy(),
            "dur": _numbers(table["dur_ns"], 0),
            "id": _numbers(pc.coalesce(table["connection_id"], table["correlation_id"]), -1),
        }
        for key, source in (("name", "name"), ("category", "cat"), ("task_type", "Task Type")):
            kept[key] = self._pools[key].encode(table[source], rows)
        for key, values in kept.items():
            self._columns.setdefault(key, []).append(values)
        for key, columns in (("tasks", _TASK), ("comms", _COMM), ("links", _LINK)):
            part = _with_any(table, columns)
            if part.num_rows:
                self._tables[key].append(part.select(["event", *columns]))
        operators = _with_any(table, _OPERATOR)
        if operators.num_rows:
            event = operators["event"].to_numpy()
            sink.add(
                "ops", event=event, external_id=event.astype(np.int64),
                sequence=_numbers(operators["Sequence number"], -1),
                fwd_thread=_numbers(operators["Fwd thread id"], 0), shapes=one_line(operators["Input Dims"]),
                dtypes=one_line(operators["Input type"]), stack=one_per_line(operators["Call stack"]),
            )  # fmt: skip

    def capture(self) -> Capture:
        """Everything kept."""
        empty = {"event": np.int32, "track": np.int32, "start": np.int64, "dur": np.int64, "id": np.int64,
                 "name": np.int32, "category": np.int32, "task_type": np.int32}  # fmt: skip
        columns = {
            key: np.concatenate(self._columns.pop(key)) if key in self._columns else np.empty(0, dtype)
            for key, dtype in empty.items()
        }
        names = {"tasks": _TASK, "comms": _COMM, "links": _LINK}
        return Capture(
            **columns,
            names=self._pools["name"],
            categories=self._pools["category"].texts(),
            task_types=self._pools["task_type"].texts(),
            tracks=self.tracks,
            arrows={name: _arrows(parts) for name, parts in self._arrows.items()},
            **{key: pa.concat_tables(parts) if parts else _no_rows(names[key]) for key, parts in self._tables.items()},
        )


class _CounterTap(_Tap):
    """A sink that hands on counters and the rows they stand on, and nothing else that would be an event."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink, without=())
        self._real: dict[int, int] = {}
        self._events = 0

    def events(self, count: int) -> int:
        """Numbers of this file only: the events are poured from elsewhere."""
        self._events += count
        return self._events - count

    def track(self, **fields: Any) -> int:
        """A number of this file only."""
        key = {name: fields.get(name, "") for name in ("process", "thread", "pid", "tid")}
        number = len(self.tracks)
        self.tracks[number] = Track(number=number, **key)
        return number

    def label(self, track: int, **fields: Any) -> None:
        """Labels go on for rows that have counters."""
        if track in self._real:
            self._sink.label(self._real[track], **fields)

    def add(self, table: str, **columns: Any) -> None:
        """Counters go on."""
        if table != "counters":
            return
        for number in set(columns["track"]) - set(self._real):
            row = self.tracks[number]
            self._real[number] = self._sink.track(
                process=row.process, thread=row.thread, pid=row.pid, tid=row.tid, side="host"
            )
        columns["track"] = [self._real[number] for number in columns["track"]]
        first = self._sink.events(len(columns["track"]))
        columns["event"] = list(range(first, first + len(columns["track"])))
        self._sink.add(table, **columns)


def _numbers(column: Any, default: int) -> I64:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.asarray(whole.fill_null(default).to_numpy(zero_copy_only=False), np.int64)


def _with_any(table: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    """The rows that have at least one of the arguments."""
    some = np.zeros(table.num_rows, np.bool_)
    for name in columns:
        if table[name].null_count < table.num_rows:
            some |= table[name].is_valid().to_numpy()
    return table.filter(pa.array(some)) if not some.all() else table


def _no_rows(columns: tuple[str, ...]) -> pa.Table:
    types = {"BIGINT": pa.int64(), "VARCHAR": pa.string(), "DOUBLE": pa.float64()}
    fields = [pa.field("event", pa.int32()), *(pa.field(name, types[_ARGUMENTS[name]]) for name in columns)]
    return pa.schema(fields).empty_table()


def _arrows(parts: list[tuple[I64, I32, I64, Bool]]) -> Arrows:
    if not parts:
        none = np.empty(0, np.int64)
        return Arrows(ids=none, track=none.astype(np.int32), ts_ns=none, start=none.astype(np.bool_))
    ids, track, ts, start = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Arrows(ids=ids, track=track, ts_ns=ts, start=start)
