from __future__ import annotations

import pytest

from trainwright.report.axis import INTERVALS, axis_for


def test_ticks_of_times_are_round_in_one_unit() -> None:
    axis = axis_for([168_000_000, 90_000_000], "ns")  # 168 ms / 10 = 16.8 ms: the next round step is 20 ms

    assert (axis.low, axis.high) == (0, 180_000_000)
    assert [label for _, label in axis.ticks] == [
        "0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms", "120 ms", "140 ms", "160 ms", "180 ms"
    ]  # fmt: skip
    assert axis.at(45_000_000, 400) == 100


@pytest.mark.parametrize(
    ("largest", "unit", "last"),
    [
        (1, "ns", (1, "1 ns")),
        (950, "ns", (1000, "1 us")),
        (2_100_000_000, "ns", (2_500_000_000, "2.5 s")),
        (3 * 2**30, "bytes", (3 * 2**30, "3 GiB")),
        (100, "bytes", (112, "112 B")),
        (0.31, "share", (0.35, "35 %")),
        (1234, "count", (1400, "1,400")),
        (19.5, "GB/s", (20, "20 GB/s")),
    ],
)
def test_the_last_tick_is_the_first_at_or_above_the_largest_value(
    largest: float, unit: str, last: tuple[float, str]
) -> None:
    value, label = axis_for([largest], unit).ticks[-1]

    assert (pytest.approx(value), label) == last


def test_negative_values_extend_the_axis_to_the_left() -> None:
    axis = axis_for([-40, 100], "count")  # 140 / 10 = 14: step 20

    assert (axis.low, axis.high) == (-40, 100)
    assert axis.at(0, 140) == 40


def test_nothing_but_zero_has_one_tick() -> None:
    assert axis_for([0, 0], "ns").ticks == axis_for([], "ns").ticks == ((0, "0 ns"),)
    assert axis_for([], "ns").at(0, 100) == 0


@pytest.mark.parametrize("unit", ["ns", "bytes", "share", "ratio"])
@pytest.mark.parametrize("exponent", range(0, 63, 3))
def test_any_magnitude_has_few_ticks_around_its_value(unit: str, exponent: int) -> None:
    value = 2**exponent
    axis = axis_for([value], unit)

    assert axis.high >= value
    assert len(axis.ticks) <= INTERVALS + 2
