"""What happened in every step, by intervals: tasks are cut at the borders of steps, so no time counts twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from trainwright.analyze.intervals import Spans, disjoint, intersect, join, subtract
from trainwright.analyze.steps import StepWindow
from trainwright.analyze.work import spans_of, work_of
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class StepWork:
    """Busy and idle intervals of a rank; owners of all spans are indices of its W steps.

    `computing`, `communication` and `busy` (their union) are cut at the borders of steps. `first_ns` and `last_ns`,
    (W,), are the first and the last moment of a step in which a task runs; both are the start of a step without any.
    `free` is the time between them in which none does.
    """

    computing: Spans
    communication: Spans
    busy: Spans
    free: Spans
    first_ns: I64
    last_ns: I64


@lru_cache(maxsize=8)
def step_work(rank: RankStore) -> StepWork:
    """The work of a rank by step."""
    work = work_of(rank)
    windows = window_spans(work.windows)
    computing, communication = spans_of(rank, work.compute), spans_of(rank, work.comm)
    all_busy = join(computing, communication)
    busy = intersect(windows, all_busy)
    first, last = _extent(busy, work.windows)
    return StepWork(
        computing=intersect(windows, computing),
        communication=intersect(windows, communication),
        busy=busy,
        free=subtract(disjoint(first, last), all_busy),
        first_ns=first,
        last_ns=last,
    )


def window_spans(windows: Sequence[StepWindow]) -> Spans:
    """The steps as intervals; the owner is the index of the step."""
    start = np.array([window.start_ns for window in windows], np.int64)
    return disjoint(start, np.array([window.end_ns for window in windows], np.int64))


def _extent(busy: Spans, windows: Sequence[StepWindow]) -> tuple[I64, I64]:
    """First and last busy moment of each step."""
    first = np.array([window.start_ns for window in windows], np.int64)
    last = first.copy()
    # pieces lie in order of steps: of equal owners the first and the last piece count
    owners, at = np.unique(busy.owner, return_index=True)
    first[owners] = busy.start[at]
    last[owners] = busy.end[np.append(at[1:], len(busy)) - 1] if len(owners) else last[owners]
    return first, last
