"""The level-of-detail pyramid: what a timeline draws when slices are narrower than its pixels.

At bin width w, slices shorter than w that start in one bin merge into a cluster that keeps start, end, count and
busy time. Longer slices stand by themselves. Levels are x4 apart and each is built from the one below, so the whole
pyramid costs little more than its first level. A level that merges less than half is not kept: the one below (at the
bottom: the slices themselves) serves as well. Nothing is dropped: at every level the counts and busy times of a lane
add up to those of its slices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

#: Bin width of level 0, ns.
LOD_BASE_NS = 1_024
LOD_FACTOR = 4
#: A level with this many rows is small enough to be the last.
LOD_SMALL = 4_096
#: No bin is wider than this, 73 years; damaged times may be further apart.
MOST_NS = 2**61


@dataclass(frozen=True, kw_only=True)
class Level:
    """One level: (M,) columns sorted by (lane, start). `row` is the slice row of the longest slice merged."""

    number: int
    lane: I32
    start_ns: I64
    end_ns: I64
    busy_ns: I64
    count: I32
    row: I32


def build_pyramid(lane: I32, start_ns: I64, dur_ns: I64) -> list[Level]:
    """The kept levels over slices sorted by (lane, start); level k has bins of LOD_BASE_NS * 4**k ns."""
    if not len(lane):
        return []
    level = Level(
        number=-1,
        lane=lane,
        start_ns=start_ns,
        end_ns=start_ns + dur_ns,
        busy_ns=dur_ns,
        count=np.ones(len(lane), np.int32),
        row=np.arange(len(lane), dtype=np.int32),
    )
    longest = dur_ns
    origin = int(start_ns.min())
    span = int(level.end_ns.max()) - origin
    levels: list[Level] = []
    kept = len(lane)
    widest = min(LOD_FACTOR * span, MOST_NS)
    while len(level.lane) > LOD_SMALL and LOD_BASE_NS * LOD_FACTOR ** (level.number + 1) < widest:
        level, longest = _merge(level, longest, origin)
        if len(level.lane) <= kept // 2:
            levels.append(level)
            kept = len(level.lane)
    return levels


def _merge(below: Level, longest: I64, origin: int) -> tuple[Level, I64]:
    """The next level and, per row, the duration of the longest slice merged."""
    number = below.number + 1
    width = LOD_BASE_NS * LOD_FACTOR**number
    short = (below.end_ns - below.start_ns) < width
    bin_of = (below.start_ns - origin) // width
    begins = np.ones(len(short), np.bool_)
    begins[1:] = ~(short[1:] & short[:-1] & (below.lane[1:] == below.lane[:-1]) & (bin_of[1:] == bin_of[:-1]))
    first = np.flatnonzero(begins)
    count = np.diff(np.append(first, len(short)))
    most = np.maximum.reduceat(longest, first)
    is_longest = longest == np.repeat(most, count)
    group = np.cumsum(begins) - 1
    candidates = np.flatnonzero(is_longest)
    _, pick = np.unique(group[candidates], return_index=True)
    return Level(
        number=number,
        lane=below.lane[first],
        start_ns=below.start_ns[first],
        end_ns=np.maximum.reduceat(below.end_ns, first),
        busy_ns=np.add.reduceat(below.busy_ns, first),
        count=np.add.reduceat(below.count, first).astype(np.int32),
        row=below.row[candidates[pick]],
    ), most
