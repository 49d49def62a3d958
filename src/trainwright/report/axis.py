"""Axes of charts: where to put ticks so that their labels are short and round."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Number = int | float

#: An axis has at most this many intervals between ticks.
INTERVALS = 10

_TIMES = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))
_SIZES = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
_WHOLE = ("ns", "bytes", "count")


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A linear axis from `low` to `high`, which hold 0 and every value; ticks lie on both ends."""

    low: Number
    high: Number
    #: Value and label of each tick, ascending.
    ticks: tuple[tuple[Number, str], ...]

    def at(self, value: Number, length: float) -> float:
        """Position of a value on an axis drawn `length` long."""
        return (value - self.low) * length / (self.high - self.low)


def axis_for(values: Iterable[Number], unit: str) -> Axis:
    """The axis for some values of a unit (see `trainwright.core.result.Unit`); 0 is always on it."""
    low: Number = 0
    high: Number = 0
    for value in values:
        low, high = min(low, value), max(high, value)
    if low == high:
        return Axis(low=0, high=1, ticks=((0, _label(0, unit, 0)),))
    step = _binary_step(high - low) if unit == "bytes" else _decimal_step(high - low, whole=unit in _WHOLE)
    first, last = math.floor(low / step), math.ceil(high / step)
    # Whole multiples, not repeated addition: the ends stay exact.
    ticks = [at * step for at in range(first, last + 1)]
    largest = max(abs(ticks[0]), abs(ticks[-1]))
    return Axis(low=ticks[0], high=ticks[-1], ticks=tuple((tick, _label(tick, unit, largest)) for tick in ticks))


def _decimal_step(span: Number, *, whole: bool) -> Number:
    """The smallest 1, 2 or 5 times a power of ten that divides `span` into at most `INTERVALS`."""
    exponent = math.floor(math.log10(span / INTERVALS))
    if whole:
        exponent = max(exponent, 0)
    power: Number = 10**exponent
    return next(factor * power for factor in (1, 2, 5, 10) if span <= factor * power * INTERVALS)


def _binary_step(span: Number) -> int:
    """The smallest power of two that divides `span` into at most `INTERVALS`."""
    return 1 << max(math.ceil(math.log2(span / INTERVALS)), 0)


def _label(value: Number, unit: str, largest: Number) -> str:
    """A tick in the unit that suits the largest tick of its axis."""
    scales = {"ns": _TIMES, "bytes": _SIZES}.get(unit)
    if scales is not None:
        name, size = next((scale for scale in scales if largest >= scale[1]), scales[-1])
        return f"{value / size:,.10g} {name}"
    if unit == "share":
        return f"{100 * value:,.10g} %"
    return f"{value:,.10g}" + (f" {unit}" if unit == "GB/s" else "")
