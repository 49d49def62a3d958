"""Group rows by integer keys and reduce columns per group, exactly (no float accumulates an int64)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

#: Keys below this sort as 16-bit integers, for which numpy has a radix sort.
_SHORT = 2**16
_KEY_LIMIT = 2**62


@dataclass(frozen=True, kw_only=True)
class Groups:
    """N rows in G groups of equal keys, groups in rising order of their keys.

    `order` (N,) lists the rows group by group, in their given order within a group; `first` (G,) says where in
    `order` each group begins.
    """

    order: I64
    first: I64

    def __len__(self) -> int:
        return len(self.first)

    @property
    def count(self) -> I64:
        """Rows per group, (G,)."""
        return np.diff(np.append(self.first, len(self.order)))

    @property
    def number(self) -> I64:
        """Number of the group of each row, (N,)."""
        number = np.empty(len(self.order), np.int64)
        number[self.order] = np.repeat(np.arange(len(self)), self.count)
        return number

    def key(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The value of a key column, or of anything constant within groups, per group, (G,)."""
        return np.asarray(values[self.order[self.first]])

    def sum(self, values: npt.NDArray[Any]) -> I64:
        """Sum per group, (G,)."""
        return self._reduce(np.add, np.asarray(values, np.int64))

    def min(self, values: I64) -> I64:
        """Smallest value per group, (G,)."""
        return self._reduce(np.minimum, values)

    def max(self, values: I64) -> I64:
        """Largest value per group, (G,)."""
        return self._reduce(np.maximum, values)

    def position(self) -> I64:
        """Number of each row within its group, counted from 0 in the given order, (N,)."""
        position = np.empty(len(self.order), np.int64)
        position[self.order] = np.arange(len(self.order)) - np.repeat(self.first, self.count)
        return position

    def _reduce(self, reduction: np.ufunc, values: I64) -> I64:
        if not len(self):
            return np.empty(0, np.int64)
        return np.asarray(reduction.reduceat(values[self.order], self.first), np.int64)


def group_by(*keys: npt.NDArray[Any]) -> Groups:
    """Groups of rows that agree in every key; keys are (N,) integers."""
    key = _shifted(keys[0])
    width = int(key.max(initial=0)) + 1
    for more in keys[1:]:
        column = _shifted(more)
        span = int(column.max(initial=0)) + 1
        if width * span > _KEY_LIMIT:
            key = np.unique(key, return_inverse=True)[1]
            width = int(key.max(initial=0)) + 1
        if width * span > _KEY_LIMIT:
            column = np.unique(column, return_inverse=True)[1]
            span = int(column.max(initial=0)) + 1
        key = key * span + column
        width *= span
    order = np.argsort(key.astype(np.uint16) if width <= _SHORT else key, kind="stable")
    ordered = key[order]
    fresh = np.ones(len(key), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return Groups(order=order, first=np.flatnonzero(fresh))


def _shifted(values: npt.NDArray[Any]) -> I64:
    """The column as int64 from 0 upwards, in the same order."""
    column = np.asarray(values, np.int64)
    low, high = int(column.min(initial=0)), int(column.max(initial=0))
    if high - low >= _KEY_LIMIT:
        return np.asarray(np.unique(column, return_inverse=True)[1], np.int64)
    return column - low
