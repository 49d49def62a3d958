"""Groups must be exact where floats are not, and keep the given order inside a group."""

from __future__ import annotations

import numpy as np
import pytest

from trainwright.analyze.grouping import group_by

KEY = np.array([3, -1, 3, 3, -1], np.int32)
VALUES = np.array([5, 7, 2, 9, 1], np.int64)


def test_keys_rise_and_reductions_follow_them() -> None:
    groups = group_by(KEY)
    assert groups.key(KEY).tolist() == [-1, 3]
    assert groups.count.tolist() == [2, 3]
    assert groups.sum(VALUES).tolist() == [8, 16]
    assert groups.min(VALUES).tolist() == [1, 2]
    assert groups.max(VALUES).tolist() == [7, 9]
    assert groups.number.tolist() == [1, 0, 1, 1, 0]
    assert groups.position().tolist() == [0, 0, 1, 2, 1]


def test_sum_is_exact_above_what_a_float_holds() -> None:
    values = np.array([2**60, 1, 1], np.int64)
    assert group_by(np.zeros(3, np.int64)).sum(values).tolist() == [2**60 + 2]


def test_several_keys_group_together() -> None:
    first, second = np.array([0, 0, 1, 0]), np.array([5, 6, 5, 5])
    groups = group_by(first, second)
    keys = list(zip(groups.key(first).tolist(), groups.key(second).tolist(), strict=True))
    assert keys == [(0, 5), (0, 6), (1, 5)]
    assert groups.count.tolist() == [2, 1, 1]


@pytest.mark.parametrize("far", [2**40, 2**61, 2**63 - 1])
def test_keys_far_apart_do_not_overflow(far: int) -> None:
    first = np.array([-(2**62), far, -(2**62), far], np.int64)
    second = np.array([far, 0, far, 1], np.int64)
    assert group_by(first, second, first).count.tolist() == [2, 1, 1]


def test_no_rows_make_no_groups() -> None:
    none = np.empty(0, np.int64)
    groups = group_by(none, none)
    assert len(groups) == 0
    assert groups.sum(none).tolist() == groups.count.tolist() == groups.number.tolist() == []
