from __future__ import annotations

import math

import numpy as np
import pytest

from trainwright.report.cells import is_number, number, plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(2**62 + 1), 2**62 + 1),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (3, 3),
        (True, True),
        (None, None),
    ],
)
def test_every_scalar_becomes_a_python_value(value: object, expected: object) -> None:
    result = plain(value)

    assert result == expected
    assert type(result) is type(expected)


def test_what_is_no_scalar_becomes_its_text() -> None:
    assert plain([1, 2]) == "[1, 2]"
    assert plain(np.longdouble(1.5)) == "1.5"


def test_numbers_are_finite_and_no_bools() -> None:
    assert [is_number(cell) for cell in (1, 1.5, True, math.nan, math.inf, "1", None)] == [True, True] + [False] * 5
    assert [number(cell) for cell in (np.int64(7), None, math.nan, "x", True)] == [7, 0, 0, 0, 0]
