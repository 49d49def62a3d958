"""Write one rank into the store: collect what a reader pours, lay it out, write Arrow files, rename when whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.executor import Report
from trainwright.core.result import Quality
from trainwright.trace.columns import TableBuffer, arrow_array, arrow_table, join_tables
from trainwright.trace.layout import Layout, lay_out
from trainwright.trace.lod import Level, build_pyramid
from trainwright.trace.rank_folder import hold, read_manifest, storing, write_manifest
from trainwright.trace.reader import ColumnData
from trainwright.trace.schema import DERIVED_TABLES, TABLES, table_name
from trainwright.trace.stray import STRAY_RULE, stray_starts

I64 = npt.NDArray[np.int64]

#: Slices of these kinds are work of their own on a device track; one that covers another is not its parent.
WORK_KINDS = ("kernel", "comm", "comm_task", "memcpy", "memset", "sync")
#: A duration this many times the span of all starts (plus a minute) is an overflow, not a measurement.
OVERFLOW_FACTOR = 10
OVERFLOW_SLACK_NS = 60 * 10**9
TRACK_FIELDS = ("process", "thread", "pid", "tid", "side", "stream", "device", "sort")
#: Columns that hold points in time, by table.
TIME_COLUMNS = {
    "slices": ("start_ns",),
    "flows": ("ts_ns",),
    "instants": ("ts_ns",),
    "counters": ("ts_ns",),
    "memory_events": ("ts_ns", "release_ns"),
    "memory_usage": ("ts_ns",),
    "steps": ("start_ns", "end_ns"),
}


class RankWriter:
    """The `trainwright.trace.reader.Sink` of one rank. Call `finish` once, or `abandon`.

    Args:
        folder: where the rank's files go; made by `finish` through a temporary name beside it.
        report: called with bytes done and bytes in all.
    """

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder = folder
        self._temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
        with storing(folder):
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary.mkdir(parents=True)
            self._held: int | None = hold(self._temporary)
        self._report = report
        self._buffers = {name: TableBuffer(schema) for name, schema in TABLES.items() if name not in DERIVED_TABLES}
        self._reported: dict[str, list[pa.Table]] = {}
        self._tracks: dict[tuple[str, str, str, str], int] = {}
        self._track_rows: list[dict[str, Any]] = []
        self._files: dict[Path, int] = {}
        self._used: dict[str, list[str]] = {}
        self._quality: dict[tuple[str, str], Quality] = {}
        self._facts: dict[str, str | None] = {"device": None, "host": None}
        self._counts = {"events": 0, "lost": 0, "repaired": 0}

    def file(self, path: Path) -> int:
        """See `Sink.file`."""
        return self._files.setdefault(path, len(self._files))

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
        """See `Sink.track`."""
        key = (pid, tid, process, thread)
        if key not in self._tracks:
            self._tracks[key] = len(self._track_rows)
            row = (process, thread, pid, tid, side, stream, device, sort)
            self._track_rows.append(dict(zip(TRACK_FIELDS, row, strict=True)))
        return self._tracks[key]

    def label(self, track: int, **fields: Any) -> None:
        """See `Sink.label`."""
        self._track_rows[track].update({key: value for key, value in fields.items() if value is not None})

    def shift(self, ns: int) -> None:
        """See `Sink.shift`."""
        for table, buffer in self._buffers.items():
            for column in TIME_COLUMNS.get(table, ()):
                buffer.shift(column, ns)

    def events(self, count: int) -> int:
        """See `Sink.events`."""
        first = self._counts["events"]
        self._counts["events"] += count
        return first

    def add(self, table: str, **columns: ColumnData) -> None:
        """See `Sink.add`."""
        if table == "slices":
            columns["lane"] = columns.pop("track")  # the layout turns tracks into lanes
        self._buffers[table].add(columns)

    def reported(self, name: str, columns: Mapping[str, ColumnData], *, file: Path) -> None:
        """See `Sink.reported`."""
        arrays = {key: arrow_array(data) for key, data in columns.items()}
        table = f"reported_{table_name(name)}"
        self._reported.setdefault(table, []).append(pa.table(arrays))
        self.used(table, file)

    def meta(self, key: str, value: Any) -> None:
        """See `Sink.meta`."""
        self.add("meta", key=key, value=json.dumps(value, default=str))

    def describe(self, *, device: str | None = None, host: str | None = None) -> None:
        """See `Sink.describe`."""
        self._facts["device"] = device or self._facts["device"]
        self._facts["host"] = host or self._facts["host"]

    def used(self, table: str, file: Path) -> None:
        """See `Sink.used`."""
        names = self._used.setdefault(table, [])
        if file.name not in names:
            names.append(file.name)

    def lost(self, count: int = 1) -> None:
        """See `Sink.lost`."""
        self._counts["lost"] += count

    def repaired(self, count: int = 1) -> None:
        """See `Sink.repaired`."""
        self._counts["repaired"] += count

    def quality(
        self, code: str, *, count: int = 1, example: str = "", file: Path | None = None, offset: int | None = None
    ) -> None:
        """See `Sink.quality`."""
        key = (code, str(file or ""))
        known = self._quality.get(key)
        if known is None:
            self._quality[key] = Quality(code=code, count=count, example=example, file=key[1], offset=offset)
        else:
            self._quality[key] = Quality(
                code=code, count=known.count + count, example=known.example, file=key[1], offset=known.offset
            )

    def progress(self, done: int, total: int) -> None:
        """See `Sink.progress`."""
        self._report(done, total)

    def abandon(self) -> None:
        """Remove everything written so far."""
        shutil.rmtree(self._temporary, ignore_errors=True)
        self._release()

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def finish(self) -> Path:
        """Lay out, write, and rename into place; the folder.

        Raises:
            StoreError: the store cannot be written.
        """
        with storing(self._folder):
            self._write_all()
            self._move_into_place()
        self._release()
        return self._folder

    def _write_all(self) -> None:
        if self._track_rows:
            self.add("tracks", **{name: [row[name] for row in self._track_rows] for name in TRACK_FIELDS})
        for name, buffer in self._buffers.items():  # these first: the layout of the slices needs the memory
            if name != "slices" and buffer.rows:
                columns = {column.name: buffer.take(column.name) for column in buffer.schema.columns}
                self._write(name, columns, {text: buffer.texts(text) for text in buffer.pools})
                del columns
        span = self._write_slices()
        for name, tables in self._reported.items():
            _write_ipc(join_tables(tables), self._temporary / f"{name}.arrow")
        manifest = {
            **self._counts,
            **self._facts,
            "start_ns": span[0],
            "end_ns": span[1],
            "files": [path.name for path in self._files],
            "used": self._used,
            "quality": [asdict(entry) for entry in self._quality.values()],
        }
        write_manifest(self._temporary, manifest)

    def _move_into_place(self) -> None:
        """Rename the finished folder; one that is there stays when it is whole, else it gives way."""
        try:
            self._temporary.rename(self._folder)
        except OSError:
            if read_manifest(self._folder) is not None:  # another process wrote the same content first
                self.abandon()
                return
            if self._folder.is_dir():
                shutil.rmtree(self._folder)
            self._temporary.rename(self._folder)

    def _write(self, name: str, columns: Mapping[str, npt.NDArray[Any]], texts: Mapping[str, list[str]]) -> None:
        _write_ipc(arrow_table(TABLES[name], columns, texts), self._temporary / f"{name}.arrow")

    def _write_slices(self) -> tuple[int, int]:
        """Write `slices` and everything derived from it; the first start and the last end."""
        buffer = self._buffers["slices"]
        if not buffer.rows:
            return 0, 0
        start = buffer.take("start_ns")
        tracks = buffer.take("lane")  # still the track, see `add`
        first, last = self._span_of_starts(start, tracks)
        dur = self._sane_durations(start, buffer.take("dur_ns"), first, last)
        kinds = buffer.take("kind")
        layout = lay_out(tracks, start, dur, may_contain=self._may_contain(tracks, kinds))
        if layout.straddling:
            self.quality("overlapping-events", count=layout.straddling, example="kept on sub-rows of their track")
        columns: dict[str, npt.NDArray[Any]] = {"start_ns": start[layout.order]}
        del start
        columns["dur_ns"] = dur[layout.order]
        del dur, tracks
        columns["kind"] = kinds[layout.order]
        del kinds
        for name in ("event", "name", "link"):
            columns[name] = buffer.take(name)[layout.order]
        columns |= {"lane": layout.lane, "parent": layout.parent, "self_ns": layout.self_ns}
        texts = {text: buffer.texts(text) for text in buffer.pools}
        self._write("slices", columns, texts)
        self._write_lanes(layout)
        self._write_names(columns, texts["name"])
        self._write_pyramid(build_pyramid(layout.lane, columns["start_ns"], columns["dur_ns"]))
        inside = (columns["start_ns"] >= first) & (columns["start_ns"] <= last)
        return first, int((columns["start_ns"] + columns["dur_ns"]).max(where=inside, initial=last))

    def _on_device(self, tracks: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        return np.asarray(np.array([row["side"] == "device" for row in self._track_rows])[tracks], np.bool_)

    def _span_of_starts(self, start: I64, tracks: npt.NDArray[np.int32]) -> tuple[int, int]:
        """First and last start, without those that cannot be right; these are reported, and kept."""
        stray = stray_starts(start, self._on_device(tracks))
        if not stray.any():
            return int(start.min()), int(start.max())
        times = ", ".join(str(time) for time in start[stray][:3])
        text = f"starts at {times} ns: {STRAY_RULE}; kept, but in no step and not in the span"
        self.quality("stray-time", count=int(stray.sum()), example=text)
        return int(start[~stray].min()), int(start[~stray].max())

    def _may_contain(self, tracks: npt.NDArray[np.int32], kinds: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        work = np.array([text in WORK_KINDS for text in self._buffers["slices"].texts("kind")])[kinds]
        return np.asarray(~(self._on_device(tracks) & work))

    def _sane_durations(self, start: I64, dur: I64, first: int, last: int) -> I64:
        """Durations with negative ones clipped to zero and overflowed ones cut at the end of the trace."""
        negative = dur < 0
        if negative.any():
            self.quality("negative-duration", count=int(negative.sum()), example=f"{dur[negative][0]} ns, set to 0")
            dur = np.where(negative, 0, dur)
        overflow = dur > OVERFLOW_FACTOR * (last - first) + OVERFLOW_SLACK_NS
        if overflow.any():
            sane = ~overflow & (start >= first) & (start <= last)
            end = max(last, int((start[sane] + dur[sane]).max(initial=last)))
            self.quality(
                "duration-overflow", count=int(overflow.sum()), example=f"{dur[overflow][0]} ns, cut at the end"
            )
            dur = np.where(overflow, np.maximum(end - np.minimum(start, end), 0), dur)
        return dur

    def _write_lanes(self, layout: Layout) -> None:
        columns: dict[str, npt.NDArray[Any]] = {
            "track": layout.lane_track,
            "depth": layout.lane_depth,
            "first": layout.lane_first,
            "count": layout.lane_count,
            "overlapping": layout.lane_overlapping,
        }
        self._write("lanes", columns, {})

    def _write_names(self, columns: Mapping[str, npt.NDArray[Any]], texts: list[str]) -> None:
        codes = columns["name"]
        by_start = np.argsort(columns["start_ns"], kind="stable")
        rows = by_start[np.argsort(codes[by_start], kind="stable")].astype(np.int32)
        del by_start
        counts = np.bincount(codes, minlength=len(texts))
        ordered = columns["dur_ns"][rows]
        ends = np.cumsum(counts)
        total = np.zeros(len(texts) + 1, np.int64)
        running = np.concatenate([[0], np.cumsum(ordered)])
        total = running[ends] - running[ends - counts]
        names = {
            "name": np.arange(len(texts), dtype=np.int32),
            "first": ends - counts,
            "count": counts,
            "total_ns": total,
        }
        self._write("names", names, {"name": texts})
        self._write("postings", {"row": rows}, {})

    def _write_pyramid(self, levels: list[Level]) -> None:
        if not levels:
            return
        fields = ("lane", "start_ns", "end_ns", "busy_ns", "count", "row")
        columns: dict[str, npt.NDArray[Any]] = {
            name: np.concatenate([getattr(level, name) for level in levels]) for name in fields
        }
        numbers = np.array([level.number for level in levels], np.int16)
        columns["level"] = np.repeat(numbers, [len(level.lane) for level in levels])
        self._write("lod", columns, {})


def _write_ipc(table: pa.Table, path: Path) -> None:
    """One uncompressed record batch, so that a memory-mapped column is one contiguous array."""
    table = table.combine_chunks()
    with pa.OSFile(os.fsencode(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
