"""Exact conversions."""

from __future__ import annotations

import pytest

from trainwright.core.units import format_bytes, format_ns, ns_from_text


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1736412474725417.508", 1736412474725417508),
        ("1736412474725417.508\t", 1736412474725417508),
        ('"12.5"', 12_500),
        ("1.69512E+15", 1695120000000000000),
        ("-3", -3000),
        ("N/A", None),
        ("", None),
        ("inf", None),
        ("1e40", None),
        ("1e999999999", None),
    ],
)
def test_microseconds_as_text(text: str, ns: int | None) -> None:
    assert ns_from_text(text) == ns


def test_times_and_sizes_for_people() -> None:
    assert format_ns(8_868_240) == "8.868 ms"
    assert format_ns(999) == "999 ns"
    assert format_ns(864_000 * 10**9) == "864,000.000 s"
    assert format_ns(1_682_725_898_237_000_125) == "1682725898.237000125 s"
    assert format_ns(-1_682_725_898_237_000_125) == "-1682725898.237000125 s"
    assert format_ns(None) == "-"
    assert format_bytes(3 * 2**29) == "1.50 GiB"
