"""Who launched what in an Ascend database: arrows from operators to tasks, and those that are only drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainwright.trace.ascend_capture import Arrows
from trainwright.trace.ascend_db_device import Tasks
from trainwright.trace.ascend_db_host import Connections, Framework, Ranges
from trainwright.trace.layout import lay_out
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class _Ends:
    """One end of every arrow, (N,) each."""

    event: I64
    track: I64
    ts: I64


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    """Arrows of one category, (N,): both ends, and the id that joins them."""

    number: I64
    start: _Ends
    end: _Ends


def find_arrows(
    framework: Framework, connections: Connections, calls: Ranges, tasks: Tasks, sink: Sink
) -> Mapping[str, Arrows]:
    """Pour all arrows; those that tell who launched a task come back.

    The database joins an operator with the call that launches for it. For tasks without that (copies, events) the
    operator is the innermost one around the call, or around the entry of the launch queue that the call was made for.
    """
    main = np.flatnonzero(tasks.part < 0)  # the tasks of a communication operator belong to the operator as a whole
    caller = _first_with(calls.number, tasks.number[main])
    called = main[caller >= 0]
    caller = caller[caller >= 0]
    _pour("HostToDevice", _Drawn(number=tasks.number[called], start=_of(calls, caller), end=_of(tasks, called)), sink)
    operator = _joined_operators(framework.operators, connections, tasks.number[main])
    around = _operators_around(framework, calls)
    at = np.searchsorted(main, called)
    operator[at] = np.where(operator[at] >= 0, operator[at], around[caller])
    launched, operator = main[operator >= 0], operator[operator >= 0]
    number = np.arange(len(launched))
    arrows = _Drawn(number=number, start=_of(framework.operators, operator), end=_of(tasks, launched))
    _pour("async_npu", arrows, sink)
    _pour_pairs("async_task_queue", framework.queue, framework.queue.number, sink)
    _pour_forward_backward(framework.operators, connections, np.concatenate([calls.number, tasks.number]), sink)
    return {"async_npu": _as_capture(arrows), "HostToDevice": _none()}


def _of(rows: Ranges | Tasks, at: I64) -> _Ends:
    return _Ends(event=rows.event[at], track=rows.track[at].astype(np.int64), ts=rows.start[at])


def _first_with(numbers: I64, wanted: I64) -> I64:
    """Index of the first of `numbers` equal to each of `wanted`; -1 for none, and for -1."""
    order = np.argsort(numbers, kind="stable")
    if not len(order):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(numbers[order], wanted), len(order) - 1)
    return np.where((numbers[order[at]] == wanted) & (wanted >= 0), order[at], -1)


def _joined_operators(operators: Ranges, connections: Connections, number: I64) -> I64:
    """The operator of each connection id, (N,), as the database joins them; of several the innermost. -1 for none."""
    if not len(operators.event) or not len(connections.own):
        return np.full(len(number), -1, np.int64)
    by_length = np.argsort(operators.end - operators.start, kind="stable")
    at = _first_with(operators.number[by_length], connections.own)
    owner = np.where(at >= 0, by_length[at], -1)
    owned = np.flatnonzero(owner >= 0)
    shortest = owned[np.argsort((operators.end - operators.start)[owner[owned]], kind="stable")]
    at = _first_with(connections.joining[shortest], number)
    return np.where(at >= 0, owner[shortest[at]], -1) if len(shortest) else at


def _operators_around(framework: Framework, calls: Ranges) -> I64:
    """The innermost operator around what each call was made for, (N,); -1 for none."""
    operators, queue = framework.operators, framework.queue
    if not len(queue.event):
        return _innermost(operators, calls.thread, calls.start)
    entry = _running(queue, calls.thread, calls.start)
    order = np.argsort(queue.start, kind="stable")
    # of the two entries of a pair the earlier one handed the work over
    handed = order[_first_with(queue.number[order], queue.number[entry])]
    through = (entry >= 0) & (queue.number[entry] >= 0)
    thread = np.where(through, queue.thread[handed], calls.thread)
    return _innermost(operators, thread, np.where(through, queue.start[handed], calls.start))


def _running(rows: Ranges, thread: I64, time: I64) -> I64:
    """Of rows that follow each other on their threads, the one running at each (thread, time); -1 for none."""
    order = np.lexsort((rows.start, rows.thread))
    found = np.full(len(time), -1, np.int64)
    for each in np.unique(rows.thread).tolist():
        begin, stop = np.searchsorted(rows.thread[order], [each, each + 1])
        mine = np.flatnonzero(thread == each)
        at = begin + np.searchsorted(rows.start[order[begin:stop]], time[mine], side="right") - 1
        inside = at >= begin
        inside[inside] = rows.end[order[at[inside]]] > time[mine[inside]]
        found[mine[inside]] = order[at[inside]]
    return found


def _innermost(rows: Ranges, thread: I64, time: I64) -> I64:
    """Of nested rows, the innermost one around each (thread, time), (N,); -1 for none."""
    points = len(time)
    _, code = np.unique(np.concatenate([rows.thread, thread]), return_inverse=True)
    start = np.concatenate([rows.start, time])
    dur = np.concatenate([rows.end - rows.start, np.zeros(points, np.int64)])
    may_contain = np.arange(len(start)) < len(rows.start)
    layout = lay_out(code.reshape(-1).astype(np.int32), start, np.maximum(dur, 0), may_contain=may_contain)
    parent = np.full(len(start), -1, np.int64)
    inside = layout.parent >= 0
    parent[layout.order[inside]] = layout.order[layout.parent[inside]]
    return parent[len(rows.start) :]


def _pour_forward_backward(operators: Ranges, connections: Connections, launching: I64, sink: Sink) -> None:
    """Arrows between operators that share an id which launches nothing."""
    owner = _first_with(operators.number, connections.own)
    mine = np.flatnonzero((owner >= 0) & ~np.isin(connections.joining, launching) & (connections.joining >= 0))
    _pour_pairs("fwdbwd", operators.where(owner[mine]), connections.joining[mine], sink)


def _pour_pairs(category: str, rows: Ranges, number: I64, sink: Sink) -> None:
    """Arrows from the first of the rows with a number to each later one."""
    order = np.lexsort((rows.start, number))
    order = order[number[order] >= 0]
    first = order[np.searchsorted(number[order], number[order])]
    later = first != order
    start, end = first[later], order[later]
    _pour(category, _Drawn(number=number[end], start=_of(rows, start), end=_of(rows, end)), sink)


def _pour(category: str, arrows: _Drawn, sink: Sink) -> None:
    for phase, ends in (("s", arrows.start), ("f", arrows.end)):
        if len(ends.event):
            sink.add(
                "flows", event=ends.event, category=category, id=arrows.number, phase=phase, track=ends.track,
                ts_ns=ends.ts,
            )  # fmt: skip


def _as_capture(arrows: _Drawn) -> Arrows:
    return Arrows(
        ids=np.concatenate([arrows.number, arrows.number]),
        track=np.concatenate([arrows.start.track, arrows.end.track]).astype(np.int32),
        ts_ns=np.concatenate([arrows.start.ts, arrows.end.ts]),
        start=np.repeat([True, False], len(arrows.number)),
    )


def _none() -> Arrows:
    none = np.empty(0, np.int64)
    return Arrows(ids=none, track=none.astype(np.int32), ts_ns=none, start=none.astype(np.bool_))
