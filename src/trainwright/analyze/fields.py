"""Column declarations that many tables share, and cells out of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright.core.result import Cell, Column

I64 = npt.NDArray[np.int64]

#: Name of the row for what no recorded operator did.
NO_OPERATOR = "(no operator)"

RANK = Column(name="rank", unit="id", help="rank")


def ns(name: str, text: str) -> Column:
    """A time in integer nanoseconds."""
    return Column(name=name, unit="ns", help=text)


def count(name: str, text: str) -> Column:
    """A number of things."""
    return Column(name=name, unit="count", help=text)


def size(name: str, text: str) -> Column:
    """A size in bytes."""
    return Column(name=name, unit="bytes", help=text)


def text(name: str, words: str) -> Column:
    """A text; null where the source does not say."""
    return Column(name=name, unit="text", help=words)


def share(name: str, words: str) -> Column:
    """A fraction between 0 and 1."""
    return Column(name=name, unit="share", help=words)


def bandwidth(name: str, words: str) -> Column:
    """Gigabytes (1e9 bytes) per second; bytes per nanosecond is the same number."""
    return Column(name=name, unit="GB/s", help=words)


def texts_at(texts: Sequence[str], codes: npt.NDArray[Any]) -> list[str | None]:
    """The texts of codes; code -1 is null."""
    lookup: list[str | None] = [*texts, None]
    return [lookup[code] for code in codes.tolist()]


def known(values: npt.NDArray[Any]) -> list[Cell]:
    """Numbers with "not recorded" (-1) as null."""
    return [None if value == -1 else value for value in values.tolist()]


def mean(total: I64, counts: I64) -> I64:
    """Integer mean, rounded half up; counts must not be 0."""
    return np.asarray((2 * total + counts) // (2 * counts), np.int64)


def shares(parts: I64, whole: int) -> list[Cell]:
    """Fractions of a whole; null when the whole is 0."""
    return [part / whole if whole else None for part in parts.tolist()]


def rows(*columns: Iterable[Cell] | npt.NDArray[Any]) -> list[tuple[Cell, ...]]:
    """Table rows out of columns of one length; arrays become Python numbers."""
    return list(zip(*(c.tolist() if isinstance(c, np.ndarray) else c for c in columns), strict=True))
