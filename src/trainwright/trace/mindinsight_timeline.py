"""Pour what old MindSpore profilers know with times: timelines and step traces."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.chrome import Dialect, pour_events
from trainwright.trace.csvtext import CsvTable
from trainwright.trace.mindinsight_names import comm_op, core_of, kind_of, place
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]

#: A step trace counts ticks of the device's clock, 100 MHz.
TICK_NS = 10
#: Inputs of an operator whose shapes are kept.
_INPUTS = tuple(f"input_{number}" for number in range(8))
_ARGUMENTS = dict.fromkeys(("type", "fullname", "op_full_name", "block_dim", *_INPUTS), "VARCHAR")
_REDUCE = re.compile(r"^stream_(\d{1,9})_(.+)_start_point$")
_PHASES = (("iteration_interval", "start_point", "fp_point"), ("fp_and_bp", "fp_point", "bp_point"),
           ("tail", "bp_point", "end_point"))  # fmt: skip


def pour_timeline(path: Path, sink: Sink) -> None:
    """Pour ``ascend_timeline_display`` and its like for GPU and CPU.

    Raises:
        InputError: no event of the file can be read.
    """
    pour_events(path, sink, Dialect(arguments=_ARGUMENTS, kind_of=kind_of, place=place, details=_pour_details))
    sink.used("slices", path)


def _pour_details(table: pa.Table, sink: Sink) -> None:
    """Operators on the device with type, unit and shapes; communication operators."""
    kinds = table["kind"].to_pylist()
    at = [row for row, kind in enumerate(kinds) if kind in ("kernel", "comm")]
    if not at:
        return
    tasks = table.take(pa.array(at))
    inputs = [
        [_input(text) for text in row] for row in zip(*(tasks[name].to_pylist() for name in _INPUTS), strict=True)
    ]
    blocks = tasks["block_dim"].to_pylist()
    pids, tids = tasks["pid"].to_pylist(), tasks["tid"].to_pylist()
    sink.add(
        "kernels", event=tasks["event"].to_numpy(), op_type=tasks["type"],
        stream=[place("", "", pid or "", tid or "", "kernel").stream for pid, tid in zip(pids, tids, strict=True)],
        device=[place("", "", pid or "", "", "kernel").device for pid in pids],
        core_type=[core_of(pid or "") or None for pid in pids],
        shapes=[_joined(row, "shape") for row in inputs], dtypes=[_joined(row, "data_type") for row in inputs],
        formats=[_joined(row, "format") for row in inputs],
        blocks=[int(text) if text and text.isdecimal() and len(text) < 9 else -1 for text in blocks],
    )  # fmt: skip
    comm = [row for row in at if kinds[row] == "comm"]
    if comm:
        found = table.take(pa.array(comm))
        ops = [comm_op(name or "") for name in found["name"].to_pylist()]
        sink.add("collectives", event=found["event"].to_numpy(), op=ops)


def _input(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _joined(inputs: Sequence[dict[str, Any] | None], key: str) -> str | None:
    """One member of all inputs, joined by ``;`` as operator summaries write it; None without inputs."""
    texts = [_plain(each.get(key, "")) for each in inputs if each is not None]
    return ";".join(texts) if texts else None


def _plain(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def pour_step_trace(table: CsvTable, sink: Sink) -> None:
    """Pour the steps of ``step_trace_raw_*_detail_time.csv``, their phases, and the communication in them.

    The last row, an average, is left out: it is no moment.
    """
    columns = table.whole()
    numbers = [text if text and text.isdecimal() and len(text) < 19 else None for text in _texts(columns, "step_num")]
    rows = np.array([at for at, text in enumerate(numbers) if text is not None], np.int64)
    if not len(rows):
        return
    start, end = (_ticks(columns, name)[rows] for name in ("start_point", "end_point"))
    sink.add(
        "steps", step=[int(numbers[at] or 0) for at in rows], start_ns=start, end_ns=np.maximum(start, end),
        origin="marked",
    )  # fmt: skip
    sink.used("steps", table.path)
    track = sink.track(process="Step Trace", thread="Steps", pid="step trace", tid="steps", side="device")
    for name, first, last in _PHASES:
        _pour_spans(name, "derived", track, _ticks(columns, first)[rows], _ticks(columns, last)[rows], sink)
    for head in columns:
        if found := _REDUCE.match(head):
            stream, name = int(found.group(1)), f"{found.group(2)}"
            ends = _ticks(columns, head.removesuffix("start_point") + "end_point")[rows]
            track = sink.track(
                process="Communication", thread=f"Stream {stream}", pid="communication", tid=str(stream), side="device",
                stream=stream,
            )  # fmt: skip
            name = name.partition("_")[2] if name.partition("_")[0].isdecimal() else name
            event = _pour_spans(name, "comm", track, _ticks(columns, head)[rows], ends, sink)
            if len(event):
                sink.add("collectives", event=event, op=comm_op(name))
                sink.add("kernels", event=event, stream=stream, core_type="HCCL")
    sink.used("slices", table.path)


def _pour_spans(name: str, kind: str, track: int, start: I64, end: I64, sink: Sink) -> I64:
    """Slices of one name; spans that did not happen are written as 0 to 0. Their event numbers."""
    happened = np.flatnonzero((start > 0) & (end >= start))
    if not len(happened):
        return happened
    first = sink.events(len(happened))
    event = np.arange(first, first + len(happened))
    start = start[happened]
    sink.add("slices", event=event, track=track, start_ns=start, dur_ns=end[happened] - start, name=name, kind=kind)
    return event


def _ticks(columns: dict[str, pa.Array], name: str) -> I64:
    """Times of a column in ns, 0 where it holds none."""
    values = columns.get(name)
    if values is None or not pa.types.is_int64(values.type):
        return np.zeros(len(next(iter(columns.values()))), np.int64)
    ticks = np.asarray(values.fill_null(0).to_numpy(zero_copy_only=False), np.int64)
    return np.where((ticks > 0) & (ticks < 2**63 // TICK_NS), ticks, 0) * TICK_NS


def _texts(columns: dict[str, pa.Array], name: str) -> list[str | None]:
    values = columns.get(name, pa.nulls(len(next(iter(columns.values())))))
    return [None if value is None else str(value) for value in values.to_pylist()]
