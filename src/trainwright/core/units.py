"""Exact conversion into our units (integer nanoseconds, integer bytes) and their display.

Profiles give times as decimal microseconds, sometimes with epoch magnitude: ``1736412474725417.508``. A float64
cannot hold that to the nanosecond (its step there is 0.25 µs), so text is converted by decimal arithmetic.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

NS_PER: dict[str, int] = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
BYTES_PER: dict[str, int] = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}

TimeUnit = Literal["ns", "us", "ms", "s"]

INT64_MAX = 2**63 - 1
#: From here on (11 days) a time is taken for a point on a clock, not for a duration.
POINT_IN_TIME_NS = 10**15

_TIME_STEPS = (("s", 10**9), ("ms", 10**6), ("us", 10**3))
_SIZE_STEPS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def ns_from_text(text: str, unit: TimeUnit = "us") -> int | None:
    """Nanoseconds from decimal text such as ``"1736412474725417.508"`` or ``"1.5e3"``, rounded half to even.

    Quotes, blanks and trailing TABs around the number are ignored. None when the text holds no finite number or
    one outside int64.
    """
    try:
        value = Decimal(text.strip().strip('"').strip()) * NS_PER[unit]
        if not value.is_finite() or abs(value) > INT64_MAX:
            return None
        return int(value.to_integral_value())
    except ArithmeticError:  # no number, or one too large even for a decimal
        return None


def format_ns(ns: int | None) -> str:
    """A time for people: three decimals in the largest unit that leaves at least 1 (``"8.868 ms"``).

    What is too long to be a duration is a point in time, of which every digit counts (``"1682725898.237000125 s"``).
    """
    if ns is None:
        return "-"
    if abs(ns) >= POINT_IN_TIME_NS:
        seconds, rest = divmod(abs(ns), 10**9)
        return f"{'-' if ns < 0 else ''}{seconds}.{rest:09} s"
    for unit, size in _TIME_STEPS:
        if abs(ns) >= size:
            return f"{ns / size:,.3f} {unit}"
    return f"{ns} ns"


def format_bytes(size: int | None) -> str:
    """A size for people in binary units (``"1.50 GiB"``)."""
    if size is None:
        return "-"
    for unit, step in _SIZE_STEPS:
        if abs(size) >= step:
            return f"{size / step:,.2f} {unit}"
    return f"{size} B"


def format_share(share: float | None) -> str:
    """A fraction as a percentage with one decimal (``"73.4 %"``)."""
    return "-" if share is None else f"{100 * share:.1f} %"


def format_value(value: object, unit: str) -> str:
    """A table cell for people, by the unit of its column (see `trainwright.core.result.Column`)."""
    if value is None:
        return "-"
    if unit == "ns" and isinstance(value, int):
        return format_ns(value)
    if unit == "bytes" and isinstance(value, int):
        return format_bytes(value)
    if unit == "share" and isinstance(value, int | float):
        return format_share(value)
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int) and not isinstance(value, bool) and unit == "count":
        return f"{value:,}"
    return str(value)
