"""How far the clocks of ranks are apart, told from collectives: all ranks leave a collective together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright.analyze.grouping import group_by

I64 = npt.NDArray[np.int64]

#: Ranks on one clock leave a collective within some microseconds; what is below this is no difference of clocks.
SAME_CLOCK_NS = 50_000
#: A difference of clocks is constant; exits that scatter need to differ by this many median deviations.
SCATTER_FACTOR = 4


def clock_offsets(collective: I64, group: I64, rank: I64, end_ns: I64) -> I64:
    """How far ahead the clock of each row's rank is within its communication group, (N,), ns.

    Rows are the ends of collectives that release all ranks at once. A rank's offset is the median, over the
    collectives of the group, of its end minus the median end of all ranks. Zero for the whole group where no offset
    exceeds `SAME_CLOCK_NS` and the scatter of its ends: then ranks share a clock and their exits differ by themselves.
    """
    by_collective = group_by(collective)
    lead = end_ns - _medians(collective, end_ns)[by_collective.number]
    by_rank = group_by(group, rank)
    offset = _medians(by_rank.number, lead)[by_rank.number]
    scatter = _medians(by_rank.number, np.abs(lead - offset))[by_rank.number]
    constant = np.where(np.abs(offset) > SCATTER_FACTOR * scatter, np.abs(offset), 0)
    by_group = group_by(group)
    apart = by_group.max(constant)[by_group.number] > SAME_CLOCK_NS
    return np.where(apart, offset, 0)


def _medians(key: I64, values: I64) -> I64:
    """The (lower) median of the values of each key, keys rising."""
    order = np.lexsort((values, key))
    groups = group_by(key)
    return np.asarray(values[order][groups.first + (groups.count - 1) // 2])
