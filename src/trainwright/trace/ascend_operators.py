"""Join an operator summary with a timeline: which slice each operator is, and operators that the timeline lacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trainwright.trace.ascend_capture import HARDWARE, Capture, Track
from trainwright.trace.ascend_kernels import KernelRows, match_rows
from trainwright.trace.ascend_names import is_comm_operator, parse_hcom
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]

#: When more of the operators inside the time of a timeline are missing from it, the two files are of different runs.
MOST_MISSING = 0.5
#: Operators that all lie outside the time of a timeline, but not further than this, may belong to a cut timeline.
NEAR_NS = 3600 * 10**9


@dataclass(frozen=True, kw_only=True)
class Operators:
    """Rows of an operator summary, the file they come from, and whether each is a communication operator, (N,)."""

    rows: KernelRows
    path: Path
    is_comm: npt.NDArray[np.bool_]


def operators_of(rows: KernelRows, names: list[str], path: Path) -> Operators:
    """The operators of a summary; `names` are the texts behind the codes of `rows`."""
    cores = rows.core.dictionary_encode()
    by_core = [is_comm_operator(core, "") for core in cores.dictionary.to_pylist()]
    by_name = [is_comm_operator("", name) for name in names]
    is_comm = np.array([*by_core, False])[cores.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return Operators(rows=rows, path=path, is_comm=is_comm | np.array([*by_name, False])[rows.name])


def join_operators(capture: Capture, operators: Operators, sink: Sink) -> tuple[Capture, I64]:
    """The timeline with the operators it lacked, and for every slice the row of the summary that tells of it.

    The row is -1 for slices of which the summary says nothing.
    """
    rows = operators.rows
    on_device = np.array([number for number, track in capture.tracks.items() if track.device >= 0], capture.track.dtype)
    tasks = np.flatnonzero(np.isin(capture.track, on_device))
    found = match_rows(capture.start[tasks], capture.name[tasks], rows)
    extra = np.flatnonzero(found < 0)
    matched = np.full(len(capture.event), -1, np.int64)
    if not _same_run(capture.start[tasks], rows.start, rows.start[extra]):
        sink.quality("foreign-file", example="holds operators of another run, not used", file=operators.path)
        return capture, matched
    matched[tasks[found[found >= 0]]] = np.flatnonzero(found >= 0)
    sink.used("kernels", operators.path)
    if not len(extra):
        return capture, matched
    if len(tasks):
        code = int(rows.name[extra[0]])
        name = capture.names.texts()[code] if code >= 0 else ""
        sink.quality("not-in-timeline", count=len(extra), example=f"{name}: added", file=operators.path)
    sink.used("slices", operators.path)
    return _with_rows(capture, operators, extra, sink), np.concatenate([matched, extra])


def _same_run(tasks: I64, operators: I64, missing: I64) -> bool:
    """Whether operators fit a timeline, by their starts: most of those in its time are in it."""
    if not len(tasks) or not len(missing):
        return True
    first, last = int(tasks.min()), int(tasks.max())
    within = int(np.count_nonzero((operators >= first) & (operators <= last)))
    if not within:
        return first - NEAR_NS <= int(np.median(operators)) <= last + NEAR_NS
    return int(np.count_nonzero((missing >= first) & (missing <= last))) <= MOST_MISSING * within


def _with_rows(capture: Capture, operators: Operators, extra: I64, sink: Sink) -> Capture:
    rows, tracks = operators.rows, _Tracks(capture, sink)
    texts = capture.names.texts()
    columns = (rows.name[extra], rows.stream[extra], rows.device[extra], operators.is_comm[extra])
    track = [
        tracks.communication(texts[name] if name >= 0 else "", device) if comm else tracks.stream(stream, device)
        for name, stream, device, comm in zip(*(column.tolist() for column in columns), strict=True)
    ]
    first = sink.events(len(extra))
    return capture.extended(
        event=np.arange(first, first + len(extra), dtype=np.int32),
        track=np.array(track, np.int32),
        start=rows.start[extra],
        dur=rows.dur[extra],
        name=rows.name[extra],
    )


class _Tracks:
    """Rows of a timeline for slices that come from tables; made where the timeline has none that fits."""

    def __init__(self, capture: Capture, sink: Sink) -> None:
        self._capture = capture
        self._sink = sink
        self._streams = {
            (track.stream, track.device): number for number, track in capture.tracks.items() if track.layer == HARDWARE
        }
        texts = capture.names.texts()
        codes, first = np.unique(capture.name, return_index=True)
        self._groups = {
            parse_hcom(texts[code]).suffix: int(capture.track[row])
            for code, row in zip(codes.tolist(), first.tolist(), strict=True)
            if code >= 0 and texts[code].startswith("hcom")
        }

    def stream(self, stream: int, device: int) -> int:
        """The row of a stream; where no device is named, that of any device."""
        key = (stream, device)
        if key not in self._streams:
            fitting = (number for (known, _), number in self._streams.items() if known == stream and device == -1)
            label = f"Stream {stream}" if stream >= 0 else "Operators"
            found = next(fitting, None)
            self._streams[key] = self._new(HARDWARE, label, device) if found is None else found
        return self._streams[key]

    def communication(self, name: str, device: int) -> int:
        """The row of the group that a communication operator belongs to."""
        suffix = parse_hcom(name).suffix
        if suffix not in self._groups:
            label = f"Group {suffix} Communication" if suffix else "Communication"
            self._groups[suffix] = self._new("Communication", label, device)
        return self._groups[suffix]

    def _new(self, layer: str, thread: str, device: int) -> int:
        process = f"{layer} (NPU {device})" if device >= 0 else f"{layer} (NPU)"
        number = self._sink.track(process=process, thread=thread, pid=layer, tid=thread, side="device")
        self._capture.tracks[number] = Track(number=number, process=process, thread=thread, pid=layer, tid=thread)
        return number
