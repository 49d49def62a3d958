"""Pour the events of a Chrome trace into a sink; what the names mean is told by a `Dialect`.

Kineto, Ascend ``trace_view.json``, msprof and MindSpore timelines are all arrays of Chrome trace events: complete
slices (``X``), begin/end pairs (``B``/``E``, ``b``/``e``), instants, counters, flows and metadata. This module does
what they have in common. No event is dropped: phases nobody knows are kept as instants.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright.core.errors import InputError
from trainwright.trace.chrome_flows import FlowBinder
from trainwright.trace.chrome_pairs import PairMatcher
from trainwright.trace.columns import NULL, TextPool
from trainwright.trace.event_damage import report_damage
from trainwright.trace.json_events import Batch, EventFile
from trainwright.trace.reader import Sink
from trainwright.trace.schema import DEVICE_KINDS

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

#: Events at time 0 without duration are quarantined when the others are at least this far away (1000 s).
QUARANTINE_DISTANCE_NS = 10**12


@dataclass(frozen=True, kw_only=True)
class TrackPlace:
    """What a dialect knows about a track."""

    side: str = "host"
    stream: int = -1
    device: int = -1


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What the names of one format mean.

    `arguments`: DuckDB type by key of ``args`` to decode. `renames`: see `EventFile`. `kind_of(process, thread, cat,
    name)` gives a kind of `trainwright.trace.schema.KINDS`; process and thread are labels where `labels_first`, else
    ids. `place(process, thread, pid, tid, kind)` says where a track is, given the kind of a slice on it. `link` is the
    argument that launch and task share. `details(table, sink)` receives the X events of a batch (event, name, cat,
    kind, track, start_ns, dur_ns, pid, tid and the arguments as columns) and fills the detail tables.
    `instants(table, sink)` receives instants and answers with a mask of those it took. `flow_links` are flow
    categories (prefixes) whose id becomes the `link` of the slices they join; `on_flows(table)` receives all bound
    flows as (category, id, start_event, end_event) before the slices are written.
    """

    arguments: Mapping[str, str] = field(default_factory=dict)
    renames: tuple[tuple[bytes, bytes], ...] = ()
    kind_of: Callable[[str, str, str, str], str]
    place: Callable[[str, str, str, str, str], TrackPlace]
    link: str | None = None
    details: Callable[[pa.Table, Sink], None] | None = None
    instants: Callable[[pa.Table, Sink], npt.NDArray[np.bool_]] | None = None
    labels_first: bool = False
    flow_links: tuple[str, ...] = ()
    on_flows: Callable[[pa.Table], None] | None = None


def pour_events(path: Path, sink: Sink, dialect: Dialect) -> dict[str, Any]:
    """Pour a file; its metadata (the members beside ``traceEvents``).

    Raises:
        InputError: the file holds no event array, or none of its events can be read.
    """
    labels = read_labels(path) if dialect.labels_first else {}
    pourer = _Pourer(path, sink, dialect, labels)
    arguments = {"name": "VARCHAR", "labels": "VARCHAR", "sort_index": "BIGINT", **dialect.arguments}
    events = EventFile(path, arguments=arguments, renames=dialect.renames)
    for batch, done, total in events.batches():
        pourer.pour(batch)
        sink.progress(done, total)
    pourer.finish()
    report_damage(events, sink)
    if not pourer.events and events.damage.lost:
        raise InputError(
            f"{path}: no event could be read, {len(events.damage.lost)} are damaged", todo="collect the profile again"
        )
    return events.metadata


def read_labels(path: Path) -> dict[tuple[str, str], str]:
    """Labels of processes ``(pid, "")`` and threads ``(pid, tid)`` from the metadata events of a file."""
    labels: dict[tuple[str, str], str] = {}
    for batch, _done, _total in EventFile(path, arguments={"name": "VARCHAR"}).batches():
        table = batch.table
        phases = table["ph"].combine_chunks().dictionary_encode()
        if "M" not in phases.dictionary.to_pylist():
            continue
        code = phases.dictionary.to_pylist().index("M")
        rows = pa.array(np.flatnonzero(phases.indices.fill_null(-1).to_numpy(zero_copy_only=False) == code))
        # the event's own name and args.name both arrive as "name": the second is renamed by the decoder
        for row in table.take(rows).to_pylist():
            key = (row["pid"] or "", row["tid"] or "" if row["name"] == "thread_name" else "")
            if row["name"] in ("process_name", "thread_name") and row["args.name"]:
                labels[key] = row["args.name"]
    return labels


class _Pourer:
    """The state of pouring one file: tracks, labels, open pairs, flows."""

    def __init__(self, path: Path, sink: Sink, dialect: Dialect, labels: dict[tuple[str, str], str]) -> None:
        self._path = path
        self._sink = sink
        self._dialect = dialect
        self._labels = labels
        self._file = sink.file(path)
        self._pools = {name: TextPool() for name in ("cat", "name", "pid", "tid")}
        self._tracks: dict[tuple[int, int], int] = {}
        self._placed: set[int] = set()
        self._kinds = TextPool()
        self._kind_of: dict[int, int] = {}
        self._pairs = PairMatcher()
        self._flows = FlowBinder(dialect.flow_links)
        self.events = 0

    def pour(self, batch: Batch) -> None:
        """One batch of events."""
        rows = batch.table.num_rows
        first = self._sink.events(rows)
        self.events += rows
        event = np.arange(first, first + rows, dtype=np.int32)
        self._sink.add("origin", event=event, file=self._file, offset=batch.offset, size=batch.size)
        table = batch.table.append_column("event", pa.array(event))
        phases = table["ph"].combine_chunks().dictionary_encode()
        codes = phases.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        groups: dict[str, list[int]] = {}
        for code, phase in enumerate([*phases.dictionary.to_pylist(), None]):
            name = "BE" if phase in ("B", "E", "b", "e") else phase or ""  # pairs are matched in file order
            groups.setdefault(name, []).append(code if phase is not None else -1)
        for phase, members in groups.items():
            at = np.flatnonzero(np.isin(codes, members))
            if len(at):
                part = table if len(at) == rows else table.take(pa.array(at))
                self._pour_phase(phase, part, batch, at)

    def _pour_phase(self, phase: str, table: pa.Table, batch: Batch, rows: I64) -> None:
        if phase == "X":
            self._pour_slices(table)
        elif phase == "M":
            self._pour_labels(table)
        elif phase in ("s", "t", "f"):
            self._pour_flows(phase, table)
        elif phase == "C":
            self._pour_counters(table, [batch.text(int(row)) for row in rows])
        elif phase == "BE":
            for paired in self._pairs.match(table):
                self._pour_slices(paired)
        else:
            self._pour_instants(phase, table)

    def _codes(self, table: pa.Table, name: str) -> I32:
        return self._pools[name].encode(table[name], table.num_rows)

    def _track_numbers(self, table: pa.Table) -> I32:
        """Track of each row, made on first sight."""
        pid, tid = self._codes(table, "pid"), self._codes(table, "tid")
        pairs = (pid.astype(np.int64) << 32) | (tid.astype(np.int64) & 0xFFFFFFFF)
        distinct, inverse = np.unique(pairs, return_inverse=True)
        numbers = np.empty(len(distinct), np.int32)
        for at, pair in enumerate(distinct.tolist()):
            key = (pair >> 32, int(np.int64(pair).astype(np.int32)))
            if key not in self._tracks:
                self._tracks[key] = self._new_track(key)
            numbers[at] = self._tracks[key]
        return np.asarray(numbers[inverse.reshape(-1)], np.int32)

    def _ids(self, key: tuple[int, int]) -> tuple[str, str]:
        pids, tids = self._pools["pid"].texts(), self._pools["tid"].texts()
        return (pids[key[0]] if key[0] != NULL else "", tids[key[1]] if key[1] != NULL else "")

    def _new_track(self, key: tuple[int, int]) -> int:
        pid, tid = self._ids(key)
        process, thread = self._labels.get((pid, ""), pid), self._labels.get((pid, tid), tid)
        return self._sink.track(process=process, thread=thread, pid=pid, tid=tid, side="host")

    def _pour_slices(self, table: pa.Table) -> None:
        timed = table["ts_ns"].is_valid()
        if table["ts_ns"].null_count:
            self._sink.quality("no-time", count=table["ts_ns"].null_count, file=self._path)
            self._sink.lost(table["ts_ns"].null_count)
            table = table.filter(timed)
        if table["dur_ns"].null_count:
            self._sink.quality("no-duration", count=table["dur_ns"].null_count, example="taken as 0", file=self._path)
        start = table["ts_ns"].to_numpy()
        dur = table["dur_ns"].combine_chunks().fill_null(0).to_numpy()
        table, start, dur = self._quarantine(table, start, dur)
        if not len(start):
            return
        track = self._track_numbers(table)
        kinds = self._slice_kinds(table, track)
        link = np.full(len(start), -1, np.int64)
        if self._dialect.link is not None:
            link = table[self._dialect.link].combine_chunks().fill_null(-1).to_numpy()
        texts = self._kinds.texts()
        kind = pa.DictionaryArray.from_arrays(pa.array(kinds), pa.array(texts))
        columns = {
            "event": table["event"].to_numpy(), "track": track, "start_ns": start, "dur_ns": dur,
            "name": table["name"].fill_null(""), "kind": kind, "link": link,
        }  # fmt: skip
        if self._dialect.flow_links or self._dialect.on_flows:
            self._flows.add_slices(columns)
        else:
            self._sink.add("slices", **columns)
        if self._dialect.details is not None:
            extra = {"kind": kind, "track": pa.array(track), "start_ns": pa.array(start)}
            for name, values in extra.items():
                table = table.append_column(name, values)
            self._dialect.details(table, self._sink)

    def _quarantine(self, table: pa.Table, start: I64, dur: I64) -> tuple[pa.Table, I64, I64]:
        """Set events at time 0 without duration aside when the others are far away: they stretch the time axis."""
        zero = (start == 0) & (dur == 0)
        if not zero.any() or np.abs(start).max() < QUARANTINE_DISTANCE_NS:
            return table, start, dur
        aside = table.filter(pa.array(zero))
        self._sink.quality(
            "time-zero",
            count=aside.num_rows,
            example=f"{aside['name'][0]} at time 0 without duration, set aside as instants",
            file=self._path,
        )
        self._add_instants(aside, "time-zero")
        return table.filter(pa.array(~zero)), start[~zero], dur[~zero]

    def _slice_kinds(self, table: pa.Table, track: I32) -> I32:
        """Kind code of each slice; the dialect is asked once per (track, category, name)."""
        cat, name = self._codes(table, "cat"), self._codes(table, "name")
        keys = (
            (track.astype(np.int64) << 44)
            | ((cat.astype(np.int64) & 0xFFF) << 32)
            | (name.astype(np.int64) & 0xFFFFFFFF)
        )
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        codes = np.empty(len(distinct), np.int32)
        fresh = [at for at, key in enumerate(distinct.tolist()) if key not in self._kind_of]
        if fresh:
            rows = table.select(["pid", "tid", "cat", "name"]).take(pa.array(first[fresh])).to_pylist()
            for at, row in zip(fresh, rows, strict=True):
                self._kind_of[int(distinct[at])] = self._ask_kind(row, int(track[first[at]]))
        for at, key in enumerate(distinct.tolist()):
            codes[at] = self._kind_of[key]
        return np.asarray(codes[inverse.reshape(-1)])

    def _ask_kind(self, row: Mapping[str, str | None], track: int) -> int:
        pid, tid = row["pid"] or "", row["tid"] or ""
        process, thread = self._labels.get((pid, ""), pid), self._labels.get((pid, tid), tid)
        kind = self._dialect.kind_of(process, thread, row["cat"] or "", row["name"] or "")
        if track not in self._placed and (kind in DEVICE_KINDS or self._dialect.labels_first):
            place = self._dialect.place(process, thread, pid, tid, kind)
            self._sink.label(track, side=place.side, stream=place.stream, device=place.device)
            self._placed.add(track)
        return self._kinds.code(kind)

    def _pour_labels(self, table: pa.Table) -> None:
        """Names and orders of processes and threads."""
        columns = ("name", "pid", "tid", "args.name", "labels", "sort_index")
        for row in table.select(columns).to_pylist():
            pid, tid = row["pid"] or "", row["tid"] or ""
            if row["name"] == "process_name" and row["args.name"]:
                self._labels[(pid, "")] = row["args.name"]
            elif row["name"] == "process_labels" and row["labels"]:
                self._labels[(pid, "labels")] = row["labels"]
            elif row["name"] == "thread_name" and row["args.name"]:
                self._labels[(pid, tid)] = row["args.name"]
            elif row["name"] in ("process_sort_index", "thread_sort_index"):
                where = "" if row["name"] == "process_sort_index" else tid
                self._labels[(pid, f"{where} sort")] = str(row["sort_index"] or 0)

    def _pour_flows(self, phase: str, table: pa.Table) -> None:
        table = self._with_time(table)
        track, ts = self._track_numbers(table), table["ts_ns"].to_numpy()
        category = table["cat"].fill_null("")
        number, text = table["id_number"].combine_chunks(), table["id"].combine_chunks()
        self._sink.add(
            "flows",
            event=table["event"].to_numpy(),
            category=category,
            id=number,
            id_text=pc.if_else(number.is_valid(), pa.scalar(None, pa.string()), text),
            phase=phase,
            track=track,
            ts_ns=ts,
        )
        if self._dialect.flow_links or self._dialect.on_flows:
            self._flows.add_ends(phase, category, table["id"], table["name"], track, ts)

    def _pour_counters(self, table: pa.Table, texts: list[bytes]) -> None:
        tracks, times = self._track_numbers(table).tolist(), table["ts_ns"].to_pylist()
        events, names = table["event"].to_pylist(), table["name"].to_pylist()
        rows: dict[str, list[Any]] = {key: [] for key in ("event", "track", "ts_ns", "name", "series", "value")}
        for text, event, track, ts, name in zip(texts, events, tracks, times, names, strict=True):
            values = _counter_values(text)
            if ts is None or not isinstance(values, dict):
                self._sink.quality("bad-counter", example=text[:120].decode("utf-8", "replace"), file=self._path)
                self._sink.lost()
                continue
            for series, value in values.items():
                number = _number(value)
                if number is not None:
                    for key, cell in zip(rows, (event, track, ts, name, series, number), strict=True):
                        rows[key].append(cell)
        if rows["event"]:
            self._sink.add("counters", **rows)

    def _pour_instants(self, phase: str, table: pa.Table) -> None:
        if phase in ("i", "I", "R", "n") and self._dialect.instants is not None:
            table = self._with_time(table)
            taken = self._dialect.instants(table, self._sink)
            table = table.filter(pa.array(~taken))
        if table.num_rows:
            self._add_instants(table, "" if phase in ("i", "I", "R", "n") else f"phase {phase or 'missing'}")

    def _add_instants(self, table: pa.Table, category: str) -> None:
        ts = table["ts_ns"].combine_chunks().fill_null(0).to_numpy()
        self._sink.add(
            "instants", event=table["event"].to_numpy(), track=self._track_numbers(table), ts_ns=ts, name=table["name"],
            category=category or table["cat"],
        )  # fmt: skip

    def _with_time(self, table: pa.Table) -> pa.Table:
        """The rows that have a time; the others are counted as lost."""
        missing = table["ts_ns"].null_count
        if missing:
            self._sink.quality("no-time", count=missing, file=self._path)
            self._sink.lost(missing)
            table = table.filter(table["ts_ns"].is_valid())
        return table

    def finish(self) -> None:
        """Write what waited for the end of the file: labels, unmatched pairs, bound flows."""
        for unmatched in self._pairs.left():
            self._sink.quality("unmatched-begin-or-end", count=unmatched.num_rows, file=self._path)
            self._add_instants(unmatched, "unmatched")
        if self._dialect.flow_links or self._dialect.on_flows:
            bound = self._flows.bind()
            if self._dialect.on_flows is not None:
                self._dialect.on_flows(bound)
            for columns in self._flows.slices():
                self._sink.add("slices", **columns)
        for key, track in self._tracks.items():
            pid, tid = self._ids(key)
            process = self._labels.get((pid, ""), pid)
            extra = self._labels.get((pid, "labels"))
            sort = self._labels.get((pid, f"{tid} sort")) or self._labels.get((pid, " sort")) or "0"
            self._sink.label(
                track,
                process=f"{process} ({extra})" if extra and extra != process else process,
                thread=self._labels.get((pid, tid), tid),
                sort=max(min(int(sort), 2**31 - 1), -(2**31)),
            )


def _counter_values(text: bytes) -> Any:
    """The ``args`` of a counter; None where Python, unlike DuckDB, cannot read the event."""
    try:
        return json.loads(text, strict=False).get("args") or {}
    except (ValueError, RecursionError):
        return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
