"""Why the device was idle: every gap between its tasks, cut into causes by what host and device did meanwhile.

For each gap the next device task and its launch on the host decide. Until the launch, the host is late, and what the
host did tells why: garbage collection, data loading, compiling, allocating memory, synchronising, else plain launching.
After the launch the task was waiting on the device: for a synchronisation the trace shows, else in the queue. Each
nanosecond of a gap gets exactly one cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainwright.analyze.intervals import Spans, disjoint, intersect, subtract, union
from trainwright.analyze.work import Work, spans_of
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

#: What each cause means; the order is that in which host evidence is asked.
CAUSES: dict[str, str] = {
    "memory_copy": "the device copied or filled memory",
    "gc": "Python collected garbage",
    "dataloader": "the host waited for the next batch",
    "compile": "a kernel or graph was compiled or loaded",
    "allocator": "memory of the device was allocated or freed",
    "synchronisation": "the host waited for the device, so nothing was queued; or a stream waited for another",
    "host_launch": "the host was busy but launched too late: host-bound",
    "device_queue": "the next task was already launched; the device took this long to start it",
    "unknown": "nothing recorded explains it",
}

#: Host evidence by name of runtime calls and operators.
_NAMES = {
    "compile": re.compile(
        r"ModuleLoad|LibraryLoad|aclopCompile|OpCompile|compile_(?:inner|fx)|_compile\b|CompiledFxGraph|triton.*compile"
        r"|dynamo_timed",
        re.IGNORECASE,
    ),
    "allocator": re.compile(
        r"(?:cuda|hip|cu)(?:Malloc|Free|HostAlloc|MemCreate|MemMap|MemUnmap|MemRelease|MemAddress)"
        r"|aclrt(?:Malloc|Free|ReserveMem|MapMem|UnmapMem)|(?:rt|hal)Mem(?:Alloc|Free)\b|empty_cache",
        re.IGNORECASE,
    ),
    "synchronisation": re.compile(
        r"(?:cuda|hip|cu)(?:Device|Stream|Event|Ctx)Synchronize|aclrtSynchronize|StreamSynchronize|EventSynchronize"
        r"|aten::(?:item|_local_scalar_dense|nonzero)\b|synchronize$",
        re.IGNORECASE,
    ),
}
_HOST_KINDS = ("op", "python", "annotation", "runtime", "queue", "comm")


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """Idle intervals: (N,) `spans` (owner: the index of the gap), the task row that ends each (-1: none)."""

    spans: Spans
    next_task: I64


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Pieces of gaps with one cause; owners of `spans` are indices of gaps. `rows` are the slices that prove it."""

    cause: str
    spans: Spans
    rows: I64


def explain(rank: RankStore, work: Work, gaps: Gaps) -> Iterator[Piece]:
    """Cut gaps into causes; the pieces of all causes add up to the gaps exactly."""
    left = gaps.spans
    copies = spans_of(rank, work.copy)
    yield Piece(cause="memory_copy", spans=intersect(left, copies), rows=work.copy)
    left = subtract(left, copies)
    host, late, queued = _split_at_launch(rank, gaps, left, on_device=work.on_device)
    for cause in ("gc", "dataloader", "compile", "allocator", "synchronisation"):
        rows = _evidence(rank, cause)
        spans = spans_of(rank, rows)
        hit = intersect(host, spans)
        host = subtract(host, spans)
        if cause == "synchronisation":
            drained = _drained(gaps, spans, host)
            hit, host = _concatenate(hit, host.take(drained)), host.take(~drained)
        yield Piece(cause=cause, spans=hit, rows=rows)
    busy_rows = rank.kind(*_HOST_KINDS)
    busy = spans_of(rank, busy_rows)
    yield Piece(cause="host_launch", spans=_concatenate(intersect(host, busy), late), rows=busy_rows)
    yield Piece(cause="unknown", spans=subtract(host, busy), rows=np.empty(0, np.int64))
    sync_rows = rank.kind("sync")
    syncs = spans_of(rank, sync_rows)
    yield Piece(cause="synchronisation", spans=intersect(queued, syncs), rows=sync_rows)
    yield Piece(cause="device_queue", spans=subtract(queued, syncs), rows=np.empty(0, np.int64))


def _split_at_launch(rank: RankStore, gaps: Gaps, left: Spans, *, on_device: bool) -> tuple[Spans, Spans, Spans]:
    """Pieces before the launch of the next task, after a late launch, and after a launch before the gap.

    Without a recorded launch a gap is all "before": host evidence alone decides.
    """
    begin, launch = _launches(rank, gaps, on_device=on_device)
    known = launch[left.owner] >= 0
    at = np.clip(launch[left.owner], left.start, left.end)
    at = np.where(known, at, left.end)
    host = disjoint(left.start, at, left.owner)
    after = disjoint(at, left.end, left.owner)
    was_late = launch[after.owner] > begin[after.owner]
    return host, after.take(was_late), after.take(~was_late)


def _launches(rank: RankStore, gaps: Gaps, *, on_device: bool) -> tuple[I64, I64]:
    """Start of each gap, and when the host launched the task that ends it (-1: not recorded)."""
    begin = np.zeros(int(gaps.spans.owner.max(initial=-1)) + 1, np.int64)
    begin[gaps.spans.owner] = gaps.spans.start
    launch = np.full(len(begin), -1, np.int64)
    if not on_device:
        return begin, launch
    link, start = rank.column("slices", "link"), rank.column("slices", "start_ns")
    calls = rank.kind("runtime", "queue", "op")
    calls = calls[link[calls] >= 0]
    calls = calls[np.lexsort((start[calls], link[calls]))]
    wanted = np.where(gaps.next_task >= 0, link[np.maximum(gaps.next_task, 0)], -1)
    # the latest call with the link: an operator may carry the link of the launch that it encloses
    at = np.searchsorted(link[calls], wanted, side="right") - 1
    found = (wanted >= 0) & (at >= 0)
    found[found] = link[calls][at[found]] == wanted[found]
    launch[: len(wanted)][found] = start[calls][at[found]]
    return begin, launch


def _evidence(rank: RankStore, cause: str) -> I64:
    """Host slices that prove a cause."""
    if cause in ("gc", "dataloader"):
        return rank.kind(cause)
    pattern = _NAMES[cause]
    wanted = np.array([bool(pattern.search(text)) for text in rank.texts("slices", "name")], np.bool_)
    rows = rank.kind("runtime", "op", "python", "annotation")
    return np.asarray(rows[wanted[rank.column("slices", "name")[rows]]])


def _drained(gaps: Gaps, syncs: Spans, host: Spans) -> npt.NDArray[np.bool_]:
    """Which host pieces belong to a gap that began while the host was synchronising: that emptied the queue."""
    begin = np.zeros(int(gaps.spans.owner.max(initial=-1)) + 1, np.int64)
    begin[gaps.spans.owner] = gaps.spans.start
    at = np.searchsorted(syncs.start, begin[host.owner], side="right") - 1
    inside = at >= 0
    inside[inside] = syncs.end[at[inside]] > begin[host.owner][inside]
    return np.asarray(inside)


def _concatenate(a: Spans, b: Spans) -> Spans:
    """Pieces of both, sorted by start; they must not overlap."""
    start = np.concatenate([a.start, b.start])
    order = np.argsort(start, kind="stable")
    return disjoint(start[order], np.concatenate([a.end, b.end])[order], np.concatenate([a.owner, b.owner])[order])


def find_gaps(rank: RankStore, tasks: I64) -> Gaps:
    """Gaps between tasks (rows sorted by start) from the first start to the last end."""
    start = rank.column("slices", "start_ns")[tasks]
    busy = union(start, start + rank.column("slices", "dur_ns")[tasks])
    spans = disjoint(busy.end[:-1], busy.start[1:])
    spans = disjoint(spans.start, spans.end, np.arange(len(spans), dtype=np.int64))
    return Gaps(spans=spans, next_task=tasks[np.searchsorted(start, spans.end, side="left")])
