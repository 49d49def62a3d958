"""Clock differences out of the ends of collectives."""

from __future__ import annotations

import numpy as np

from trainwright.analyze.clocks import SAME_CLOCK_NS, clock_offsets

COLLECTIVE = np.repeat([0, 1, 2], 3)
RANK = np.tile([0, 1, 2], 3)
GROUP = np.zeros(9, np.int64)


def ends(*ahead: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Ends of three collectives on three ranks whose clocks are ahead by so much."""
    return np.array([at + more for at in (10**9, 2 * 10**9, 3 * 10**9) for more in ahead], np.int64)


def test_a_constant_lead_is_a_clock() -> None:
    found = clock_offsets(COLLECTIVE, GROUP, RANK, ends(0, 0, 5_000_000))
    assert found.tolist() == [0, 0, 5_000_000] * 3


def test_small_differences_are_exits_on_one_clock() -> None:
    assert not clock_offsets(COLLECTIVE, GROUP, RANK, ends(0, 7_000, SAME_CLOCK_NS)).any()


def test_exits_that_scatter_are_no_clock() -> None:
    end = ends(0, 0, 0)
    end[[2, 5, 8]] += [100_000, 400_000, 900_000]
    assert not clock_offsets(COLLECTIVE, GROUP, RANK, end).any()


def test_groups_are_aligned_by_themselves() -> None:
    group = np.array([0, 0, 1, 1])
    end = np.array([1_000_000, 9_000_000, 50, 60], np.int64)
    found = clock_offsets(group, group, np.array([0, 1, 2, 3]), end)
    assert found.tolist() == [0, 8_000_000, 0, 0]
