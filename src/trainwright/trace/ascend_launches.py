"""Who launched a device task: the operator, and the host call, as links between slices of an Ascend timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainwright.trace.ascend_capture import Arrows, Capture
from trainwright.trace.ascend_kinds import KindColumn
from trainwright.trace.ascend_names import OPERATOR_LINK, QUEUE_LINK
from trainwright.trace.schema import DEVICE_KINDS

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

#: An arrow written as a floating point time since the epoch is this far from the slice it belongs to.
ARROW_TOLERANCE_NS = 250
TASK_KINDS = ("kernel", "comm", "memcpy", "memset")


@dataclass(frozen=True, kw_only=True)
class Launches:
    """For every slice, (N,): its `link`, and for tasks the event of the `operator` that launched it (-1: unknown)."""

    link: I64
    operator: I64


def find_launches(capture: Capture, kinds: KindColumn) -> Launches:
    """The launches of a timeline whose slices have these kinds.

    A task is joined with a host call by their connection id. Where the profiler recorded no host calls (level 0), the
    arrow to the task still tells when and on which thread the call was: the queue entry that ran there is the launch,
    and failing that the operator.
    """
    is_host, is_task = kinds.among("runtime"), kinds.among(*TASK_KINDS)
    link = np.where(is_host | kinds.among(*DEVICE_KINDS), capture.id, -1)
    queue = kinds.among("queue") & (capture.id >= 0)
    link[queue] = QUEUE_LINK + capture.id[queue]
    called = np.unique(link[is_host & (link >= 0)])
    lacking = is_task & ~np.isin(link, called)

    operator = np.full(len(link), -1, np.int64)
    starts, ends = _ends(capture.arrows["async_npu"])
    source = _Rows(capture, np.flatnonzero(kinds.among("op", "annotation", "dataloader"))).at(*starts)
    target = _Rows(capture, np.flatnonzero(is_task)).at(*ends)
    both = (source >= 0) & (target >= 0)
    operator[target[both]] = source[both]
    _share(operator, capture.id, is_task)

    link[lacking] = -1
    _link_through_queue(capture, link, lacking, queue)
    _share(link, capture.id, lacking)
    left = np.flatnonzero(lacking & (link < 0) & (operator >= 0))
    callers = operator[left]
    link[callers] = np.where(link[callers] < 0, OPERATOR_LINK + capture.event[callers].astype(np.int64), link[callers])
    link[left] = link[callers]
    link = np.where(lacking & (link < 0), capture.id, link)
    event = np.append(capture.event.astype(np.int64), -1)
    return Launches(link=link, operator=event[operator])


def _share(values: I64, connection: I64, among: Bool) -> None:
    """Give what is known (not negative) of one task to all tasks of the same host call: not each has its own arrow."""
    usable = among & (connection >= 0)
    known, lacking = np.flatnonzero(usable & (values >= 0)), np.flatnonzero(usable & (values < 0))
    if len(known) and len(lacking):
        known = known[np.argsort(connection[known], kind="stable")]
        at = np.minimum(np.searchsorted(connection[known], connection[lacking]), len(known) - 1)
        same = connection[known[at]] == connection[lacking]
        values[lacking[same]] = values[known[at[same]]]


def _link_through_queue(capture: Capture, link: I64, lacking: Bool, queue: Bool) -> None:
    """Link tasks without a recorded host call to the queue entry during which the call was made."""
    starts, ends = _ends(capture.arrows["HostToDevice"])
    task = _Rows(capture, np.flatnonzero(lacking)).at(*ends)
    entry = _running(capture, np.flatnonzero(queue), *starts)
    both = (task >= 0) & (entry >= 0)
    link[task[both]] = link[entry[both]]


def _ends(arrows: Arrows) -> tuple[tuple[I32, I64], tuple[I32, I64]]:
    """(track, time) of both ends of every arrow; one start may have several ends."""
    start, end = np.flatnonzero(arrows.start), np.flatnonzero(~arrows.start)
    order = start[np.argsort(arrows.ids[start], kind="stable")]
    ids = arrows.ids[order]
    at = np.searchsorted(ids, arrows.ids[end], side="right") - 1
    found = at >= 0
    found[found] = ids[at[found]] == arrows.ids[end][found]
    head, tail = order[at[found]], end[found]
    return (arrows.track[head], arrows.ts_ns[head]), (arrows.track[tail], arrows.ts_ns[tail])


class _Rows:
    """Some rows of a capture, to be found by the track and time at which they start."""

    def __init__(self, capture: Capture, rows: I64) -> None:
        order = np.lexsort((-capture.dur[rows], capture.start[rows], capture.track[rows]))
        self._rows = rows[order]
        self._start = capture.start[self._rows]
        tracks = capture.track[self._rows]
        self._range = {
            int(track): (int(np.searchsorted(tracks, track)), int(np.searchsorted(tracks, track, side="right")))
            for track in np.unique(tracks)
        }

    def at(self, track: I32, ts: I64) -> I64:
        """The row that starts nearest to each (track, time), -1 for none; of equal starts the innermost."""
        found = np.full(len(ts), -1, np.int64)
        for number in np.unique(track):
            begin, stop = self._range.get(int(number), (0, 0))
            if begin == stop:
                continue
            mine = np.flatnonzero(track == number)
            starts = self._start[begin:stop]
            below = np.maximum(np.searchsorted(starts, ts[mine], side="right") - 1, 0)
            above = np.minimum(below + 1, len(starts) - 1)
            near = np.where(np.abs(starts[above] - ts[mine]) < np.abs(starts[below] - ts[mine]), above, below)
            close = np.abs(starts[near] - ts[mine]) <= ARROW_TOLERANCE_NS
            found[mine] = np.where(close, self._rows[begin + near], -1)
        return found


def _running(capture: Capture, rows: I64, track: I32, ts: I64) -> I64:
    """Of some rows that follow each other on a thread, the one running on the thread of `track` at a time."""
    thread = _threads(capture)
    rows = rows[np.lexsort((capture.start[rows], thread[capture.track[rows]]))]
    on, start = thread[capture.track[rows]], capture.start[rows]
    end = start + capture.dur[rows]
    found = np.full(len(ts), -1, np.int64)
    wanted = thread[track]
    for number in np.unique(wanted):
        begin, stop = np.searchsorted(on, number), np.searchsorted(on, number, side="right")
        mine = np.flatnonzero(wanted == number)
        at = np.searchsorted(start[begin:stop], ts[mine], side="right") - 1 + begin
        inside = at >= begin
        inside[inside] = end[at[inside]] >= ts[mine][inside]
        found[mine] = np.where(inside, rows[np.maximum(at, 0)] if len(rows) else -1, -1)
    return found


def _threads(capture: Capture) -> I64:
    """Number of the operating system thread of each track: tracks of two layers may show one thread."""
    size = max(capture.tracks, default=-1) + 1
    tids: Sequence[str] = sorted({track.tid for track in capture.tracks.values()})
    codes = {tid: code for code, tid in enumerate(tids)}
    threads = np.full(size, -1, np.int64)
    for number, track in capture.tracks.items():
        threads[number] = codes[track.tid]
    return threads
