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
from functools import lru_cache

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
    copies, busy, device_sync = proofs["copies"], proofs["busy"], proofs["device_sync"]
    yield Piece(cause="memory_copy", spans=intersect(gaps.spans, copies.spans), rows=copies.rows)
    left = subtract(gaps.spans, copies.spans)
    host, late, queued = _split_at_launch(rank, gaps, left, on_device=work.on_device)
    for cause in ("gc", "dataloader", *_NAMES):
        proof = proofs[cause]
        hit = intersect(host, proof.spans)
        host = subtract(host, proof.spans)
        if cause == "synchronisation":
            drained = _drained(gaps, proof.spans, host)
            hit, host = _concatenate(hit, host.take(drained)), host.take(~drained)
        yield Piece(cause=cause, spans=hit, rows=proof.rows)
    yield Piece(cause="host_launch", spans=_concatenate(intersect(host, busy.spans), late), rows=busy.rows)
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
        "busy": rank.kind(*_HOST_KINDS),
        "device_sync": rank.kind("sync"),
    }
    calls = rank.kind("runtime", "op", "python", "annotation")
    names = rank.column("slices", "name")[calls]
    for cause, pattern in _NAMES.items():
        wanted = np.array([bool(pattern.search(text)) for text in rank.texts("slices", "name")], np.bool_)
        rows[cause] = calls[wanted[names]]
    return {cause: Proof(rows=found, spans=spans_of(rank, found)) for cause, found in rows.items()}


def _split_at_launch(rank: RankStore, gaps: Gaps, left: Spans, *, on_device: bool) -> tuple[Spans, Spans, Spans]:
    """Pieces before the launch of the next task, after a late launch, and after a launch before the gap.

    Without a recorded launch a gap is all "before": host evidence alone decides.
    """
    launch = _launches(rank, gaps) if on_device else np.full(len(gaps.spans), -1, np.int64)
    known = launch[left.owner] >= 0
    at = np.where(known, np.clip(launch[left.owner], left.start, left.end), left.end)
    host = disjoint(left.start, at, left.owner)
    after = disjoint(at, left.end, left.owner)
    was_late = launch[after.owner] > gaps.spans.start[after.owner]
    return host, after.take(was_late), after.take(~was_late)


def _launches(rank: RankStore, gaps: Gaps) -> I64:
    """When the host launched the task that ends each gap, (N,); -1: not recorded."""
    links, starts = _calls_by_link(rank)
    if not len(links):
        return np.full(len(gaps.spans), -1, np.int64)
    wanted = np.where(gaps.next_task >= 0, rank.column("slices", "link")[np.maximum(gaps.next_task, 0)], -1)
    # the latest call with the link: an operator may carry the link of the launch that it encloses
    at = np.maximum(np.searchsorted(links, wanted, side="right") - 1, 0)
    return np.where((wanted >= 0) & (links[at] == wanted), starts[at], -1)


@lru_cache(maxsize=8)
def _calls_by_link(rank: RankStore) -> tuple[I64, I64]:
    """Link and start of every host call that launched something, sorted by (link, start)."""
    link, start = rank.column("slices", "link"), rank.column("slices", "start_ns")
    calls = rank.kind("runtime", "queue", "op")
    calls = calls[link[calls] >= 0]
    calls = calls[np.lexsort((start[calls], link[calls]))]
    return link[calls], start[calls]


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


def find_gaps(rank: RankStore, tasks: I64) -> Gaps:
    """Gaps between tasks (rows sorted by start) from the first start to the last end."""
    start = rank.column("slices", "start_ns")[tasks]
    busy = union(start, start + rank.column("slices", "dur_ns")[tasks])
    spans = disjoint(busy.end[:-1], busy.start[1:])  # joined intervals never touch: none of the gaps is empty
    return Gaps(spans=spans, next_task=tasks[np.searchsorted(start, spans.end, side="left")])
