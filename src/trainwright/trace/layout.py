"""Put slices on lanes: (track, depth) rows on which nothing overlaps, with parents and self time.

For slices of a track that nest, the depth of a slice is the number of slices still open when it starts. That number
needs no stack: it is the count of slices started before minus the count of those ended. Tools round start and duration
apart, so neighbours may overlap by the grain of their clock; that much is forgiven. Where slices overlap without
nesting (kernels on one stream under programmatic launch, threads merged by a tool) the depth can collide; such a track
falls back to a search for free rows. No slice is ever dropped.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

#: A child may end this much after its parent: traces with whole-microsecond times round the two ends separately.
NESTING_TOLERANCE_NS = 1_000
#: Overlap forgiven between neighbours: two roundings of a nanosecond, or one of a whole microsecond.
GRAIN_NS = 2
MICROSECOND_NS = 1_000
#: Deepest nesting kept as nesting when slices collide; chains of overlap deeper than this are packed instead.
MAX_COLLIDING_DEPTH = 512


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where every slice goes. All arrays but the lane ones have one element per slice, in the new order.

    `order` holds the old index of each slice; `parent` new rows (-1 at top level); lanes are numbered by
    (track, depth) and `lane_*` describe them. `straddling` counts slices that overlap another without nesting.
    """

    order: I64
    lane: I32
    parent: I32
    self_ns: I64
    lane_track: I32
    lane_depth: I32
    lane_first: I64
    lane_count: I64
    lane_overlapping: Bool
    straddling: int


def lay_out(track: I32, start_ns: I64, dur_ns: I64, *, may_contain: Bool) -> Layout:
    """The layout of slices given by (N,) columns; durations must not be negative.

    `may_contain` says which slices can be the parent of another (an annotation on a device stream can, a kernel that
    happens to cover another cannot).
    """
    by_track = np.argsort(track, kind="stable")
    tracks, firsts = np.unique(track[by_track], return_index=True)
    bounds = np.append(firsts, len(track))
    pieces = [
        _lay_out_track(by_track[bounds[at] : bounds[at + 1]], start_ns, dur_ns, may_contain)
        for at in range(len(tracks))
    ]
    if not pieces:
        none = np.empty(0, np.int64)
        return Layout(
            order=none, lane=none.astype(np.int32), parent=none.astype(np.int32), self_ns=none,
            lane_track=none.astype(np.int32), lane_depth=none.astype(np.int32), lane_first=none, lane_count=none,
            lane_overlapping=none.astype(np.bool_), straddling=0,
        )  # fmt: skip
    counts = [piece.lane_count for piece in pieces]
    lane_count = np.concatenate(counts)
    offsets = np.cumsum([0] + [len(piece.order) for piece in pieces])[:-1]
    parent = np.concatenate(
        [np.where(piece.parent >= 0, piece.parent + offset, -1) for piece, offset in zip(pieces, offsets, strict=True)]
    )
    lanes_of = [len(count) for count in counts]
    return Layout(
        order=np.concatenate([piece.order for piece in pieces]),
        lane=np.repeat(np.arange(len(lane_count), dtype=np.int32), lane_count),
        parent=parent.astype(np.int32),
        self_ns=np.concatenate([piece.self_ns for piece in pieces]),
        lane_track=np.repeat(tracks, lanes_of).astype(np.int32),
        lane_depth=np.concatenate([np.arange(number, dtype=np.int32) for number in lanes_of]),
        lane_first=np.cumsum(lane_count) - lane_count,
        lane_count=lane_count,
        lane_overlapping=np.repeat([piece.straddling > 0 for piece in pieces], lanes_of),
        straddling=sum(piece.straddling for piece in pieces),
    )


@dataclass(frozen=True, kw_only=True)
class _TrackLayout:
    """The layout of one track; `parent` counts rows from the first of the track."""

    order: I64
    parent: I64
    self_ns: I64
    lane_count: I64
    straddling: int


def _lay_out_track(rows: I64, start_ns: I64, dur_ns: I64, may_contain: Bool) -> _TrackLayout:
    in_time = rows[np.lexsort((-dur_ns[rows], start_ns[rows]))]
    start, dur = start_ns[in_time], dur_ns[in_time]
    end = start + dur
    depth, straddling = _depths(start, end, nests=bool(may_contain[in_time].all()))
    by_lane = np.argsort(depth, kind="stable")
    order, depth, start, end = in_time[by_lane], depth[by_lane], start[by_lane], end[by_lane]
    lane_count = np.bincount(depth)
    parent = _parents(start, end, lane_count, may_contain[order])
    return _TrackLayout(
        order=order,
        parent=parent,
        self_ns=_self_time(start, end, parent),
        lane_count=lane_count,
        straddling=straddling,
    )


def _depths(start: I64, end: I64, *, nests: bool) -> tuple[I64, int]:
    """Depth of slices sorted by (start, longest first), and how many overlap another without nesting.

    `nests` says that slices of the track contain each other (calls of a thread); then a slice that straddles another
    goes below it with its own children below itself. Kernels are packed on as few rows as hold them.
    """
    whole = not (start % MICROSECOND_NS).any()
    for grain in (0, MICROSECOND_NS if whole else GRAIN_NS):
        depth = _open_slices(start, end, grain)
        if not _collides(depth, start, end, grain):
            return depth, 0
    if nests:
        depth, straddling = _rows_below_open(start, end)
        if depth.max(initial=0) <= MAX_COLLIDING_DEPTH:
            return depth, straddling
    depth = _free_rows(start, end)
    return depth, int(np.count_nonzero(depth))


def _open_slices(start: I64, end: I64, grain: int) -> I64:
    """How many slices are open when each starts; a slice counts as ended `grain` before its end.

    Slices without a duration are never open: they can share an instant with anything.
    """
    lasting = end > start
    effective = np.maximum(end - grain, start + 1)
    started: I64 = np.cumsum(lasting) - lasting
    ended = np.searchsorted(np.sort(effective[lasting]), start, side="right")
    return (started - ended).astype(np.int64)


def _collides(depth: I64, start: I64, end: I64, grain: int) -> bool:
    """Whether neighbours of one depth overlap by more than `grain`."""
    by_lane = np.argsort(depth, kind="stable")
    lane, begin, stop = depth[by_lane], start[by_lane], end[by_lane]
    return bool(np.any((lane[1:] == lane[:-1]) & (begin[1:] < stop[:-1] - grain)))


def _rows_below_open(start: I64, end: I64) -> tuple[I64, int]:
    """One row below the lowest slice that is still open: nesting is kept, straddling slices never share a row."""
    straddling = 0
    rows = np.empty(len(start), np.int64)
    open_slices: list[tuple[int, int]] = []  # (end, row), rows rising
    for at, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while open_slices and open_slices[-1][0] <= begin:
            open_slices.pop()
        row = open_slices[-1][1] + 1 if open_slices else 0
        straddling += bool(open_slices) and open_slices[-1][0] < stop
        rows[at] = row
        if stop > begin:
            open_slices.append((stop, row))
    return rows, straddling


def _free_rows(start: I64, end: I64) -> I64:
    """The lowest row that is free when each slice starts (greedy interval partitioning)."""
    rows = np.empty(len(start), np.int64)
    busy: list[tuple[int, int]] = []  # (end, row)
    free: list[int] = []
    used = 0
    for at, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row, used = used, used + 1
        rows[at] = row
        heapq.heappush(busy, (stop, row))
    return rows


def _parents(start: I64, end: I64, lane_count: I64, may_contain: Bool) -> I64:
    """Row of the slice one lane up that encloses each slice, -1 where none does; rows are sorted by (lane, start)."""
    parent = np.full(len(start), -1, np.int64)
    first = np.cumsum(lane_count) - lane_count
    for depth in range(1, len(lane_count)):
        above = slice(first[depth - 1], first[depth - 1] + lane_count[depth - 1])
        mine = slice(first[depth], first[depth] + lane_count[depth])
        found = np.searchsorted(start[above], start[mine], side="right") - 1 + above.start
        candidate = np.maximum(found, above.start)
        encloses = (
            (found >= above.start)
            & (start[mine] <= end[candidate])
            & (end[mine] <= end[candidate] + NESTING_TOLERANCE_NS)
            & may_contain[candidate]
        )
        parent[mine] = np.where(encloses, candidate, -1)
    return parent


def _self_time(start: I64, end: I64, parent: I64) -> I64:
    """Duration minus the time of the slices directly inside."""
    self_ns = end - start
    child = np.flatnonzero(parent >= 0)
    inside = np.minimum(end[child], end[parent[child]]) - start[child]
    # bincount sums in float64, exact below 2**53 ns (104 days) per parent
    total = np.bincount(parent[child], weights=inside.astype(np.float64), minlength=len(start))
    return np.asarray(np.maximum(self_ns - total.astype(np.int64), 0))
