"""Exact algebra of time intervals in integer nanoseconds.

An interval is [start, end). A `Spans` is a set of them. Operations that answer with pieces keep the `owner` of each
piece (the index of the interval it was cut from), so results can be grouped without another search. Nothing is rounded:
``measure(a) == measure(a & b) + measure(a - b)`` holds to the nanosecond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

_FIRST, _LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Intervals sorted by start that do not overlap: (N,) starts and ends, and who each belongs to."""

    start: I64
    end: I64
    owner: I64

    def __len__(self) -> int:
        return len(self.start)

    @property
    def length(self) -> I64:
        """Length of each interval, ns."""
        return self.end - self.start

    @property
    def measure(self) -> int:
        """Summed length, ns."""
        return int(self.length.sum())

    def take(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Spans:
        """Some of the intervals, in order."""
        return Spans(start=self.start[rows], end=self.end[rows], owner=self.owner[rows])

    def clip(self, low: int, high: int) -> Spans:
        """What lies in [low, high)."""
        return intersect(self, disjoint(np.array([low], np.int64), np.array([high], np.int64)))


def disjoint(start: I64, end: I64, owner: I64 | None = None) -> Spans:
    """Spans out of intervals that are already sorted and disjoint; empty ones are left out."""
    keep = end > start
    own = np.arange(len(start), dtype=np.int64) if owner is None else owner
    return Spans(start=start[keep], end=end[keep], owner=own[keep])


def union(start: I64, end: I64) -> Spans:
    """The union of any intervals; touching ones join. Owners number the joined intervals."""
    keep = end > start
    start, end = start[keep], end[keep]
    if not len(start):
        return disjoint(start, end)
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.append(True, start[1:] > end[:-1]))
    last = np.append(first[1:], len(start)) - 1
    return disjoint(start[first], end[last])


def join(a: Spans, b: Spans) -> Spans:
    """The union of two sets."""
    return union(np.concatenate([a.start, b.start]), np.concatenate([a.end, b.end]))


def intersect(a: Spans, b: Spans) -> Spans:
    """The pieces of `a` inside `b`; owners are those of `a`."""
    low = np.searchsorted(b.end, a.start, side="right")
    high = np.searchsorted(b.start, a.end, side="left")
    counts = np.maximum(high - low, 0)
    mine = np.repeat(np.arange(len(a)), counts)
    within = np.arange(len(mine)) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs = np.repeat(low, counts) + within
    return disjoint(
        np.maximum(a.start[mine], b.start[theirs]), np.minimum(a.end[mine], b.end[theirs]), owner=a.owner[mine]
    )


def subtract(a: Spans, b: Spans) -> Spans:
    """The pieces of `a` outside `b`; owners are those of `a`."""
    outside = disjoint(np.append(_FIRST, b.end), np.append(b.start, _LAST))
    return intersect(a, outside)


def sum_by_owner(spans: Spans, owners: int) -> I64:
    """Summed length per owner, (owners,), ns."""
    total = np.zeros(owners, np.int64)
    np.add.at(total, spans.owner, spans.length)
    return total
