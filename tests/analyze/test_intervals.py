"""Interval algebra against hand-worked cases and a brute-force model."""

from __future__ import annotations

import numpy as np
import pytest

from trainwright.analyze.intervals import Spans, disjoint, intersect, join, subtract, sum_by_owner, union


def spans(*pairs: tuple[int, int]) -> Spans:
    return union(np.array([low for low, _ in pairs], np.int64), np.array([high for _, high in pairs], np.int64))


def pairs(found: Spans) -> list[tuple[int, int]]:
    return list(zip(found.start.tolist(), found.end.tolist(), strict=True))


def points(found: Spans) -> set[int]:
    return {at for low, high in pairs(found) for at in range(low, high)}


def test_union_joins_touching_nested_and_unsorted_intervals() -> None:
    assert pairs(spans((10, 20), (0, 5), (5, 8), (12, 13), (30, 30))) == [(0, 8), (10, 20)]


def test_intersection_and_difference_by_hand() -> None:
    a, b = spans((0, 10), (20, 30)), spans((5, 25))
    assert pairs(intersect(a, b)) == [(5, 10), (20, 25)]
    assert pairs(subtract(a, b)) == [(0, 5), (25, 30)]
    assert pairs(subtract(b, a)) == [(10, 20)]
    assert pairs(a.clip(8, 22)) == [(8, 10), (20, 22)]


def test_pieces_keep_their_owner() -> None:
    gaps = disjoint(np.array([0, 20]), np.array([10, 40]))
    pieces = subtract(gaps, spans((2, 4), (25, 30)))
    assert pieces.owner.tolist() == [0, 0, 1, 1]
    assert sum_by_owner(pieces, 2).tolist() == [8, 15]


def test_empty_sets_are_fine_everywhere() -> None:
    none, some = spans(), spans((1, 2))
    assert pairs(union(none.start, none.end)) == []
    assert pairs(intersect(some, none)) == pairs(intersect(none, some)) == []
    assert pairs(subtract(some, none)) == [(1, 2)]
    assert none.measure == 0


def test_epoch_nanoseconds_stay_exact() -> None:
    epoch = 1_736_412_474_725_417_508
    a, b = spans((epoch, epoch + 3)), spans((epoch + 1, epoch + 2))
    assert intersect(a, b).measure == 1
    assert subtract(a, b).measure == 2


@pytest.mark.parametrize("seed", range(25))
def test_algebra_agrees_with_sets_of_points(seed: int) -> None:
    random = np.random.default_rng(seed)
    low = random.integers(0, 80, (2, 12))
    high = low + random.integers(0, 15, (2, 12))
    a, b = (union(low[at], high[at]) for at in range(2))
    assert points(intersect(a, b)) == points(a) & points(b)
    assert points(subtract(a, b)) == points(a) - points(b)
    assert points(join(a, b)) == points(a) | points(b)
    assert a.measure == intersect(a, b).measure + subtract(a, b).measure
