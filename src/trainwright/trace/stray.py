"""Find slices whose times cannot be right: one of them would stretch the time span of a whole recording."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: A slice is stray when it starts further than this, ns, ...
STRAY_NS = 3600 * 10**9
#: ... and than so many times the time in which the middle half of the slices start, before or after that half.
STRAY_FACTOR = 100
#: The rule in words.
STRAY_RULE = (
    f"over an hour, and {STRAY_FACTOR} times the time in which the middle half start, before or after that half"
)
#: Fewest slices of a side whose middle half says something.
FEWEST = 4


def stray_starts(start: I64, on_device: Mask) -> Mask:
    """Which slices, (N,), are stray by the rule above, asked for host and device apart: their clocks may differ.

    A slice that is right by either side is kept.
    """
    if len(start) < FEWEST or int(start.max()) - int(start.min()) <= STRAY_NS:
        return np.zeros(len(start), np.bool_)
    sides = [side for side in (start[on_device], start[~on_device]) if len(side) >= FEWEST] or [start]
    right = np.zeros(len(start), np.bool_)
    for low, high in _ranges(sides):
        right |= (start >= low) & (start <= high)
    return ~right


def _ranges(sides: list[I64]) -> Iterator[tuple[int, int]]:
    """First and last right start of each side."""
    limits = np.iinfo(np.int64)
    for side in sides:
        at = (len(side) - 1) / 4
        low, high = int(np.ceil(at)), int(np.floor(3 * at))
        ordered = np.partition(side, (low, high))
        first, last = int(ordered[low]), int(ordered[high])
        slack = max(STRAY_NS, STRAY_FACTOR * (last - first))
        yield max(first - slack, limits.min), min(last + slack, limits.max)
