"""What the allocator's events say: the total over time, its peak, and what was alive at the peak.

Each device has one series. Its total is the one the allocator recorded with every event; where it recorded none, the
running sum of allocations and releases, which starts at 0 when the trace starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainwright.analyze.calls import calls_of
from trainwright.analyze.grouping import Groups, group_by
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Allocations:
    """The allocator's events of one device in order of time, (N,) each.

    `row` is the row of `memory_events`, -1 for a release that the source gives only as the release time of an
    allocation. `size` is bytes, negative for a release. `total` is bytes allocated after the event; `recorded` says
    whether the allocator gave it. `freed_by` is the index of the event that releases an allocation, N where none does
    in the trace and for releases.
    """

    device: str
    row: I64
    ts_ns: I64
    size: I64
    total: I64
    recorded: bool
    freed_by: I64

    @property
    def peak(self) -> int:
        """Index of the first event after which most bytes are allocated."""
        return int(self.total.argmax())

    def live_at(self, event: int) -> I64:
        """Indices of the allocations that are alive after an event."""
        upto = np.arange(event + 1)
        return np.flatnonzero((self.size[upto] > 0) & (self.freed_by[upto] > event))


def allocations(rank: RankStore) -> Iterator[Allocations]:
    """The events of every device that has any."""
    column = {name: rank.column("memory_events", name) for name in ("ts_ns", "bytes", "release_ns", "address")}
    devices = rank.column("memory_events", "device")
    for code, device in [*enumerate(rank.texts("memory_events", "device")), (-1, "device not named")]:
        mine = np.flatnonzero(devices == code)
        if not len(mine):
            continue
        later = mine[(column["release_ns"][mine] >= 0) & (column["bytes"][mine] > 0)]
        row = np.concatenate([mine, np.full(len(later), -1, np.int64)])
        partner = np.concatenate([np.full(len(mine), -1, np.int64), later])
        ts = np.concatenate([column["ts_ns"][mine], column["release_ns"][later]])
        size = np.concatenate([column["bytes"][mine], -column["bytes"][later]])
        order = np.argsort(ts, kind="stable")
        row, partner, ts, size = row[order], partner[order], ts[order], size[order]
        total, recorded = _totals(rank, row, size)
        address = np.append(column["address"], -1)[row]
        freed_by = _pair(address, size, row, partner)
        yield Allocations(
            device=device, row=row, ts_ns=ts, size=size, total=total, recorded=recorded, freed_by=freed_by
        )


def _totals(rank: RankStore, row: I64, size: I64) -> tuple[I64, bool]:
    """Bytes allocated after each event, and whether the allocator recorded them."""
    written = np.append(rank.column("memory_events", "allocated_bytes"), -1)[row]
    if written.max(initial=-1) <= 0:
        return np.cumsum(size), False
    at = np.maximum.accumulate(np.where(written >= 0, np.arange(len(row)), -1))
    first = int(np.argmax(at >= 0))
    return np.where(at >= 0, written[at], written[first]), True


def _pair(address: I64, size: I64, row: I64, partner: I64) -> I64:
    """Index of the event that releases each allocation, N where there is none.

    Where the source gives the release time, that event. Else the next event at the same address: an address that is
    allocated again was free before. Without addresses the last allocation of the same size is released first.
    """
    events = len(size)
    freed_by = np.full(events, events, np.int64)
    index_of_row = np.full(int(max(row.max(initial=-1), partner.max(initial=-1))) + 1, -1, np.int64)
    index_of_row[row[row >= 0]] = np.flatnonzero(row >= 0)
    given = np.flatnonzero(partner >= 0)
    freed_by[index_of_row[partner[given]]] = given
    single = (freed_by == events) & (partner < 0) & (size != 0)
    for addressed in (True, False):
        mine = np.flatnonzero(single & ((address >= 0) == addressed))
        groups = group_by(address[mine]) if addressed else _nested(size[mine])
        follows = np.diff(groups.number[groups.order]) == 0
        first, second = mine[groups.order[:-1][follows]], mine[groups.order[1:][follows]]
        allocates = size[first] > 0
        freed_by[first[allocates]] = second[allocates]
    return freed_by


def _nested(size: I64) -> Groups:
    """Events grouped so that within a group an allocation is followed by its release, like brackets of one size.

    The level of a bracket is the number of allocations of its size that are alive inside it.
    """
    same = group_by(np.abs(size))
    sign = np.sign(size)[same.order]
    alive = np.cumsum(sign)
    before = np.repeat((alive - sign)[same.first], same.count)
    level = np.empty(len(size), np.int64)
    level[same.order] = alive - before + (sign < 0)
    return group_by(np.abs(size), level)


def operators_at(rank: RankStore, ts_ns: I64) -> I64:
    """Row of `slices` of the innermost operator running at each time, -1 for none.

    The source does not say on which thread an allocation was made: of several running operators the one that started
    last is taken.
    """
    calls = calls_of(rank)
    start = rank.column("slices", "start_ns")[calls.rows]
    end = start + rank.column("slices", "dur_ns")[calls.rows]
    tracks = rank.column("lanes", "track")[rank.column("slices", "lane")[calls.rows]]
    best = np.full(len(ts_ns), -1, np.int64)
    for track in np.unique(tracks):
        mine = np.flatnonzero(tracks == track)
        mine = mine[np.argsort(start[mine], kind="stable")]  # of equal starts the inner operator stays last
        at = np.append(mine, -1)[np.searchsorted(start[mine], ts_ns, side="right") - 1]
        while (over := (at >= 0) & (end[at] < ts_ns)).any():
            at = np.where(over, calls.parent[at], at)
        later = (at >= 0) & ((best < 0) | (start[at] > start[best]))
        best = np.where(later, at, best)
    return np.append(calls.rows, -1)[best]
