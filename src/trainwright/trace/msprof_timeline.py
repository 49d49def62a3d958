"""Take in the timelines of msprof: several files of one device (an iteration or a slice each) as one capture.

Each file is read as `trainwright.trace.ascend_capture` reads any Ascend timeline. What is particular to msprof: rows of
several files are the same rows, old versions number processes so that no device can be read from them, and the steps
of a graph (iterations) stand on a row of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright.core.errors import InputError
from trainwright.trace.ascend_capture import Arrows, Capture, capture_trace, empty_capture
from trainwright.trace.columns import TextPool
from trainwright.trace.csvtext import CsvTable
from trainwright.trace.json_events import EventFile
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]

#: Columns of a capture with a value per slice.
_COLUMNS = ("event", "track", "start", "dur", "name", "category", "task_type", "id")
_STEP_ROW = "Step Trace"
_ITERATION = "Iteration Time"
_UNNUMBERED = "(NPU)"
#: (N, 3): step number, start, end.
Steps = I64
NO_STEPS: Steps = np.empty((0, 3), np.int64)


def capture_timelines(paths: Sequence[Path], device: int, sink: Sink) -> Capture:
    """The slices of some files as one capture; a device of 0 or more counts instead of what process ids say.

    A file that cannot be read costs itself.
    """
    rows = _SharedRows(sink)
    captures = []
    for path in paths:
        try:
            captures.append(capture_trace(path, cast(Sink, rows)))
            sink.used("slices", path)
        except InputError as error:
            sink.quality("file-not-read", example=error.what, file=path)
    capture = _merged(captures) if captures else empty_capture()
    for track in capture.tracks.values():
        if device >= 0 and track.process.endswith(_UNNUMBERED):
            track.process = f"{track.layer} (NPU {device})"
    # old versions call the stream by the other name only
    stream = capture.tasks["Physic Stream Id"]
    at = capture.tasks.schema.get_field_index("Physic Stream Id")
    return replace(
        capture,
        tasks=capture.tasks.set_column(at, "Physic Stream Id", pc.coalesce(stream, capture.tasks["Stream Id"])),
    )


class _SharedRows:
    """A sink in which a thread is one row, however its labels change from file to file."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._known: dict[tuple[str, str], int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)

    def track(self, **fields: Any) -> int:
        """See `Sink.track`."""
        key = (fields.get("pid", ""), fields.get("tid", ""))
        if key not in self._known:
            self._known[key] = self._sink.track(**fields)
        return self._known[key]


def _merged(captures: Sequence[Capture]) -> Capture:
    """Captures one after the other, with common codes."""
    pools = {name: TextPool() for name in ("name", "category", "task_type")}
    texts = {"name": lambda each: each.names.texts(), "category": lambda each: each.categories,
             "task_type": lambda each: each.task_types}  # fmt: skip
    columns: dict[str, list[npt.NDArray[Any]]] = {}
    for capture in captures:
        for key in ("event", "track", "start", "dur", "id"):
            columns.setdefault(key, []).append(getattr(capture, key))
        for key, pool in pools.items():
            codes = np.array([*map(pool.code, texts[key](capture)), -1], np.int32)
            columns.setdefault(key, []).append(codes[getattr(capture, key)])
    return Capture(
        **{key: np.concatenate(parts) for key, parts in columns.items()},
        names=pools["name"],
        categories=pools["category"].texts(),
        task_types=pools["task_type"].texts(),
        tracks={number: track for capture in captures for number, track in capture.tracks.items()},
        arrows={name: _joined([capture.arrows[name] for capture in captures]) for name in captures[0].arrows},
        **{key: pa.concat_tables([getattr(each, key) for each in captures]) for key in ("tasks", "comms", "links")},
    )


def _joined(arrows: Sequence[Arrows]) -> Arrows:
    """Arrows of several files; an id means something within its file only."""
    first = np.cumsum([0, *(int(each.ids.max(initial=-1)) + 1 for each in arrows)])
    columns = {field.name: np.concatenate([getattr(each, field.name) for each in arrows]) for field in fields(Arrows)}
    columns["ids"] = np.concatenate([each.ids + base for each, base in zip(arrows, first, strict=False)])
    return Arrows(**columns)


def pour_iterations(capture: Capture, sink: Sink) -> tuple[Capture, Steps]:
    """Pour the rows that show iterations and their phases; the capture without them, and the iterations."""
    shown = [
        number for number, track in capture.tracks.items() if _STEP_ROW in track.thread or track.layer == _STEP_ROW
    ]
    mine = np.isin(capture.track, shown)
    if not mine.any():
        return capture, NO_STEPS
    category = np.array([*(text == _ITERATION for text in capture.categories), False], np.bool_)[capture.category]
    texts = [*capture.names.texts(), ""]
    at = np.flatnonzero(mine)
    sink.add(
        "slices", event=capture.event[at], track=capture.track[at], start_ns=capture.start[at], dur_ns=capture.dur[at],
        name=[texts[code] for code in capture.name[at]],
        kind=["step" if is_step else "derived" for is_step in category[at]],
    )  # fmt: skip
    for number in shown:
        sink.label(number, side="device", device=max(capture.tracks[number].device, 0))
    steps = np.flatnonzero(mine & category)
    numbers = np.array([_number_in(texts[code]) for code in capture.name[steps]], np.int64)
    found = np.stack([numbers, capture.start[steps], (capture.start + capture.dur)[steps]], axis=1)
    columns = {key: getattr(capture, key)[~mine] for key in _COLUMNS}
    tracks = {number: track for number, track in capture.tracks.items() if number not in shown}
    return replace(capture, **columns, tracks=tracks), found[found[:, 0] >= 0]


def steps_in_timeline(path: Path) -> Steps:
    """The iterations in ``step_trace_*.json``; none where it cannot be read (whoever keeps the file says so)."""
    found: list[tuple[int, int, int]] = []
    try:
        for batch, _done, _total in EventFile(path, arguments={}).batches():
            for row in batch.table.select(["ph", "cat", "name", "ts_ns", "dur_ns"]).to_pylist():
                number = _number_in(row["name"] or "")
                if row["ph"] == "X" and row["cat"] == _ITERATION and number >= 0 and row["ts_ns"] is not None:
                    found.append((number, row["ts_ns"], row["ts_ns"] + (row["dur_ns"] or 0)))
    except InputError:
        return NO_STEPS
    return np.array(found, np.int64).reshape(-1, 3)


def steps_in_table(table: CsvTable) -> Steps:
    """The iterations in ``step_trace_*.csv``: those that have an end and a duration."""
    number = table.ints("Iteration ID")
    end, has_end = table.ns("Iteration End")
    dur, has_dur = table.ns("Iteration Time")
    rows = np.flatnonzero(has_end & has_dur & (number >= 0))
    return np.stack([number[rows], end[rows] - dur[rows], end[rows]], axis=1)


def pour_steps(candidates: Iterable[Steps], starts: I64, sink: Sink) -> None:
    """Pour the first of the candidates that has steps: each number once, and only steps in which a slice starts.

    Files of one iteration repeat the steps of all; `starts` are the starts of all slices.
    """
    steps = next((each for each in candidates if len(each)), NO_STEPS)
    if not len(steps):
        return
    _, first = np.unique(steps[:, 0], return_index=True)
    steps = steps[np.sort(first)]
    starts = np.sort(starts)
    holds = np.searchsorted(starts, steps[:, 1]) < np.searchsorted(starts, steps[:, 2])
    if not holds.all():
        sink.quality("steps-without-events", count=int((~holds).sum()), example="iterations that no timeline covers")
    if holds.any():
        kept = steps[holds]
        sink.add("steps", step=kept[:, 0], start_ns=kept[:, 1], end_ns=kept[:, 2], origin="marked")


def _number_in(name: str) -> int:
    """The number at the end of ``Iteration 12``, -1 where there is none."""
    digits = name.rpartition(" ")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else -1
