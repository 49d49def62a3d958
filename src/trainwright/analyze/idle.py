"""Why nothing ran: every gap between tasks, cut into causes by what host and device did meanwhile.

For each gap the next device task and its launch on the host decide. Until the launch, the host is late, and what the
host did tells why: garbage collection, data loading, compiling, allocating memory, synchronising, else plain launching.
After the launch the task was waiting on the device: for a synchronisation the trace shows, else in the queue. A host
call that is still launching the task is no launch yet, unless it blocks on a full queue or runs a whole graph, of which
the device has begun. Each nanosecond of a gap gets exactly one cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from trainwright.analyze.calls import on_side
from trainwright.analyze.intervals import Spans, disjoint, intersect, subtract, union
from trainwright.analyze.work import Work, spans_of, work_of
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
    "outside_operators": "in a run without a device: the host was busy, but not in an operator",
    "device_queue": "the next task was already launched, or is part of a running graph; the device took this long",
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
#: Host calls that run a whole graph of tasks and may last until it ends.
_GRAPH = re.compile(r"^GE@Infer|ModelExecute|aclmdlExecute|GraphLaunch|(?:Run|Execute)Graph", re.IGNORECASE)
#: Tasks launched and not begun at which a launch may block: queues hold about a thousand (CUDA 1,024).
FULL_QUEUE = 512
_NONE = np.empty(0, np.int64)
_HOST_KINDS = ("op", "python", "annotation", "runtime", "queue", "comm")


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """Idle intervals: (N,) `spans`, each its own owner, and the task row that ends each (-1: none)."""

    spans: Spans
    next_task: I64


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Slices that prove a cause: their rows, and their union."""

    rows: I64
    spans: Spans


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Pieces of gaps with one cause; owners of `spans` are indices of gaps. `rows` are the slices that prove it."""

    cause: str
    spans: Spans
    rows: I64


def explain(rank: RankStore, work: Work, gaps: Gaps) -> Iterator[Piece]:
    """Cut gaps into causes; the pieces of all causes add up to the gaps exactly."""
    proofs = _proofs(rank)
    copies, busy, device_sync, graph = (proofs[name] for name in ("copies", "busy", "device_sync", "graph"))
    yield Piece(cause="memory_copy", spans=intersect(gaps.spans, copies.spans), rows=copies.rows)
    left = subtract(gaps.spans, copies.spans)
    host, late, queued = _split_at_launch(rank, gaps, left, on_device=work.on_device)
    yield Piece(cause="device_queue", spans=intersect(host, graph.spans), rows=graph.rows)
    host = subtract(host, graph.spans)
    for cause in ("gc", "dataloader", *_NAMES):
        proof = proofs[cause]
        hit = intersect(host, proof.spans)
        host = subtract(host, proof.spans)
        if cause == "synchronisation":
            drained = _drained(gaps, proof.spans, host)
            hit, host = _concatenate(hit, host.take(drained)), host.take(~drained)
        yield Piece(cause=cause, spans=hit, rows=proof.rows)
    busy_cause = "host_launch" if work.on_device else "outside_operators"
    yield Piece(cause=busy_cause, spans=_concatenate(intersect(host, busy.spans), late), rows=busy.rows)
    yield Piece(cause="unknown", spans=subtract(host, busy.spans), rows=_NONE)
    yield Piece(cause="synchronisation", spans=intersect(queued, device_sync.spans), rows=device_sync.rows)
    yield Piece(cause="device_queue", spans=subtract(queued, device_sync.spans), rows=_NONE)


@lru_cache(maxsize=8)
def _proofs(rank: RankStore) -> dict[str, Proof]:
    """The slices that can prove something, by what they prove; made once for all steps of a rank."""
    rows = {
        "copies": rank.kind("memcpy", "memset"),
        "gc": rank.kind("gc"),
        "dataloader": rank.kind("dataloader"),
        "busy": _on_host(rank, rank.kind(*_HOST_KINDS)),
        "device_sync": rank.kind("sync"),
    }
    calls = _on_host(rank, rank.kind("runtime", "op", "python", "annotation"))
    names = rank.column("slices", "name")[calls]
    for cause, pattern in _NAMES.items():
        wanted = np.array([bool(pattern.search(text)) for text in rank.texts("slices", "name")], np.bool_)
        rows[cause] = calls[wanted[names]]
    proofs = {cause: Proof(rows=found, spans=spans_of(rank, found)) for cause, found in rows.items()}
    graphs = calls[np.array([bool(_GRAPH.search(text)) for text in rank.texts("slices", "name")], np.bool_)[names]]
    return {**proofs, "graph": Proof(rows=graphs, spans=_running(rank, graphs))}


def _running(rank: RankStore, calls: I64) -> Spans:
    """The time in which the device is known to run the graphs of `calls`: from what it first does after each began."""
    if not len(calls):
        return union(_NONE, _NONE)
    start = rank.column("slices", "start_ns")
    everything = np.flatnonzero(~rank.where("slices", "kind", "derived"))
    on_device = np.sort(start[everything[on_side(rank, everything, "device")]])
    end = start[calls] + rank.column("slices", "dur_ns")[calls]
    begun = np.append(on_device, end.max())[np.searchsorted(on_device, start[calls])]
    return union(np.minimum(begun, end), end)


def _on_host(rank: RankStore, rows: I64) -> I64:
    """Those of `rows` that a host thread ran: what runs on the device says nothing about the host."""
    return rows[on_side(rank, rows, "host")]


def _split_at_launch(rank: RankStore, gaps: Gaps, left: Spans, *, on_device: bool) -> tuple[Spans, Spans, Spans]:
    """Pieces before the launch of the next task, after or during a late launch, and after a launch before the gap.

    Without a recorded launch a gap is all "before": host evidence alone decides.
    """
    unknown = np.full(len(gaps.spans), -1, np.int64)
    launch, launched = _launches(rank, gaps) if on_device else (unknown, unknown)
    known = launch[left.owner] >= 0
    at = np.where(known, np.clip(launch[left.owner], left.start, left.end), left.end)
    host = disjoint(left.start, at, left.owner)
    after = disjoint(at, left.end, left.owner)
    was_late = launch[after.owner] > gaps.spans.start[after.owner]
    late, early = after.take(was_late), after.take(~was_late)
    returned = np.clip(launched[early.owner], early.start, early.end)
    launching = disjoint(early.start, returned, early.owner)
    return host, _concatenate(late, launching), disjoint(returned, early.end, early.owner)


def _launches(rank: RankStore, gaps: Gaps) -> tuple[I64, I64]:
    """When the host began to launch the task that ends each gap, (N,), and when it had; -1: not recorded.

    It had at once where the call goes on for other reasons: it runs a graph of which other tasks have begun, or it
    blocks because the queue is full.
    """
    begin, end = _launch_calls(rank, gaps.next_task)
    history = _history(rank)
    if not (begin >= 0).any():
        return begin, begin
    row = np.maximum(gaps.next_task, 0)
    at = np.searchsorted(history.links, rank.column("slices", "link")[row]) % len(history.links)
    is_first = rank.column("slices", "start_ns")[row] <= history.first_start[at]
    waiting = np.searchsorted(history.launched, gaps.spans.start, side="right")
    waiting -= np.searchsorted(history.begun, gaps.spans.start, side="right")
    return begin, np.where(is_first & (waiting < FULL_QUEUE), end, begin)


def _launch_calls(rank: RankStore, tasks: I64) -> tuple[I64, I64]:
    """Begin and end of the host call that launched each task (row of `slices`, or -1), -1: not recorded."""
    links, calls = _calls_by_link(rank)
    if not len(calls):
        return np.full(len(tasks), -1, np.int64), np.full(len(tasks), -1, np.int64)
    wanted = np.where(tasks >= 0, rank.column("slices", "link")[np.maximum(tasks, 0)], -1)
    # the latest call with the link: an operator may carry the link of the launch that it encloses
    at = np.maximum(np.searchsorted(links, wanted, side="right") - 1, 0)
    known = (wanted >= 0) & (links[at] == wanted)
    begin = rank.column("slices", "start_ns")[calls[at]]
    return np.where(known, begin, -1), np.where(known, begin + rank.column("slices", "dur_ns")[calls[at]], -1)


@lru_cache(maxsize=8)
def _calls_by_link(rank: RankStore) -> tuple[I64, I64]:
    """Link and row of every host call that launched something, sorted by (link, start)."""
    link, start = rank.column("slices", "link"), rank.column("slices", "start_ns")
    calls = rank.kind("runtime", "queue", "op")
    calls = calls[link[calls] >= 0]
    calls = calls[np.lexsort((start[calls], link[calls]))]
    return link[calls], calls


@dataclass(frozen=True, kw_only=True)
class _History:
    """Tasks with a recorded launch: when each was launched and began, both sorted; links with their first begin."""

    launched: I64
    begun: I64
    links: I64
    first_start: I64


@lru_cache(maxsize=8)
def _history(rank: RankStore) -> _History:
    tasks = work_of(rank).tasks
    launched, _ = _launch_calls(rank, tasks)
    tasks, launched = tasks[launched >= 0], launched[launched >= 0]
    start = rank.column("slices", "start_ns")[tasks]
    links, first = np.unique(rank.column("slices", "link")[tasks], return_index=True)  # tasks are sorted by start
    return _History(launched=np.sort(launched), begun=start, links=links, first_start=start[first])


def _drained(gaps: Gaps, syncs: Spans, host: Spans) -> npt.NDArray[np.bool_]:
    """Which host pieces belong to a gap that began while the host was synchronising: that emptied the queue."""
    begin = gaps.spans.start[host.owner]
    at = np.searchsorted(syncs.start, begin, side="right") - 1
    inside = at >= 0
    inside[inside] = syncs.end[at[inside]] > begin[inside]
    return np.asarray(inside)


def _concatenate(a: Spans, b: Spans) -> Spans:
    """Pieces of both, sorted by start; they must not overlap."""
    start = np.concatenate([a.start, b.start])
    order = np.argsort(start, kind="stable")
    return disjoint(start[order], np.concatenate([a.end, b.end])[order], np.concatenate([a.owner, b.owner])[order])


def find_gaps(rank: RankStore, tasks: I64, idle: Spans) -> Gaps:
    """Idle intervals as gaps that the next of `tasks` (rows sorted by start) ends."""
    at = np.searchsorted(rank.column("slices", "start_ns")[tasks], idle.end, side="left")
    return Gaps(spans=disjoint(idle.start, idle.end), next_task=np.append(tasks, -1)[at])
