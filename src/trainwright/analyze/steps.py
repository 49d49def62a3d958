"""Cut a rank's time into training steps.

Marks of the profiler come first (``ProfilerStep#N`` or the step table of the source). Without them the repetition of
device tasks is looked for, and failing that the whole trace is one synthetic step. Every window says which it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

Origin = Literal["marked", "periodic", "whole", "outside"]

#: Share of tasks that must be the same one period later.
PERIOD_MATCH = 0.9
#: Names tried as anchors of a period, rarest first.
PERIOD_ANCHORS = 64
#: Fewest tasks in which a period is looked for.
PERIOD_TASKS = 8

_DIGITS = re.compile(r"(\d+)\s*$")


@dataclass(frozen=True, kw_only=True)
class StepWindow:
    """One step of a rank, [start_ns, end_ns). `step` is None for time outside all marks."""

    step: int | None
    start_ns: int
    end_ns: int
    origin: Origin


def step_windows(rank: RankStore, tasks: I64) -> list[StepWindow]:
    """The windows of a rank in time order, none overlapping; together they hold every one of `tasks` to its end.

    Args:
        rank: the rank.
        tasks: rows of `slices` that are work (device tasks, or operators of a CPU run), sorted by start.
    """
    marked = _marked(rank)
    starts = rank.column("slices", "start_ns")[tasks]
    if marked:
        return _run_out(_with_outside(marked, starts), starts, starts + rank.column("slices", "dur_ns")[tasks])
    return _periodic(rank, tasks, starts) or _whole(rank)


def row_of_windows(windows: Sequence[StepWindow]) -> I64:
    """The table row of each window, (W,): one per step, and a last one for all stretches outside the marks."""
    outside = np.array([window.step is None for window in windows], np.bool_)
    return np.where(outside, np.count_nonzero(~outside), np.cumsum(~outside) - 1)


def _whole(rank: RankStore) -> list[StepWindow]:
    kinds = rank.texts("slices", "kind")
    if not kinds:
        return []
    derived = rank.where("slices", "kind", "derived")
    rows = rank.in_span(np.flatnonzero(~derived))
    if not len(rows):
        rows = rank.in_span(np.arange(len(derived)))
    start = rank.column("slices", "start_ns")[rows]
    end = start + rank.column("slices", "dur_ns")[rows]
    last = max(int(end.max()), int(start.max()) + 1)
    return [StepWindow(step=0, start_ns=int(start.min()), end_ns=last, origin="whole")]


def _marked(rank: RankStore) -> list[StepWindow]:
    """Steps the source marks; marks of one number on several threads are one step."""
    found: dict[int, tuple[int, int]] = {}
    if rank.rows("steps"):
        columns = (rank.column("steps", name).tolist() for name in ("step", "start_ns", "end_ns"))
        rows = list(zip(*columns, strict=True))
    else:
        names = rank.texts("slices", "name")
        rows = []
        for row in rank.in_span(rank.kind("step")):
            match = _DIGITS.search(names[rank.column("slices", "name")[row]])
            start = int(rank.column("slices", "start_ns")[row])
            if match:
                rows.append((int(match.group(1)), start, start + int(rank.column("slices", "dur_ns")[row])))
    for step, start, end in rows:
        low, high = found.get(step, (start, end))
        found[step] = (min(low, start), max(high, end))
    ordered = sorted(found.items(), key=lambda item: item[1])
    windows = []
    for at, (step, (start, end)) in enumerate(ordered):
        limit = ordered[at + 1][1][0] if at + 1 < len(ordered) else end
        windows.append(StepWindow(step=step, start_ns=start, end_ns=min(end, max(limit, start)), origin="marked"))
    return windows


def _with_outside(marked: list[StepWindow], starts: I64) -> list[StepWindow]:
    """The marked steps and, where work starts outside all of them, a window for the time before, between or after."""
    windows: list[StepWindow] = []
    edge = min(int(starts[0]), marked[0].start_ns) if len(starts) else marked[0].start_ns
    last = max(int(starts[-1]) + 1, marked[-1].end_ns) if len(starts) else marked[-1].end_ns
    borders = [*marked, None]
    for window in borders:
        upto = window.start_ns if window else last
        inside = np.searchsorted(starts, [edge, upto])
        if inside[1] > inside[0]:
            windows.append(StepWindow(step=None, start_ns=edge, end_ns=upto, origin="outside"))
        if window:
            windows.append(window)
            edge = window.end_ns
    return windows


def _run_out(windows: list[StepWindow], starts: I64, ends: I64) -> list[StepWindow]:
    """The windows, each lasting until its tasks have ended or the next window begins."""
    if not len(starts):
        return windows
    ends = np.maximum.accumulate(ends)
    lasting = []
    for window, after in zip(windows, [*windows[1:], None], strict=True):
        begun = int(np.searchsorted(starts, window.end_ns))
        busy = int(ends[begun - 1]) if begun else window.end_ns
        end = max(window.end_ns, min(busy, after.start_ns) if after else busy)
        lasting.append(replace(window, end_ns=end))
    return lasting


def _periodic(rank: RankStore, tasks: I64, starts: I64) -> list[StepWindow]:
    """Steps by the repetition of task names; empty when the tasks do not repeat."""
    if len(tasks) < PERIOD_TASKS:
        return []
    names = rank.column("slices", "name")[tasks]
    period = _period(names)
    if not period:
        return []
    ends = np.maximum.accumulate(starts + rank.column("slices", "dur_ns")[tasks])
    phase = _phase(starts, ends, period)
    cuts = starts[phase::period].tolist()
    if phase:
        cuts.insert(0, int(starts[0]))
    cuts.append(max(int(ends[-1]), int(starts[-1]) + 1))
    return [
        StepWindow(step=at, start_ns=int(low), end_ns=int(high), origin="periodic")
        for at, (low, high) in enumerate(pairwise(cuts))
    ]


def _period(names: npt.NDArray[np.int32]) -> int:
    """Number of tasks in a step, 0 when nothing repeats.

    A step is the largest repetition (layers repeat inside it), so the rarest names are the anchors: the distance
    between two of their tasks is the candidate, and it holds when nearly all tasks are the same one period later.
    """
    counts = np.bincount(names)
    anchors = [name for name in np.argsort(counts, kind="stable") if counts[name] >= 2][:PERIOD_ANCHORS]
    for name in anchors:
        distance = int(np.median(np.diff(np.flatnonzero(names == name))))
        if 0 < distance <= len(names) // 2 and np.mean(names[:-distance] == names[distance:]) >= PERIOD_MATCH:
            return distance
    return 0


def _phase(starts: I64, ends: I64, period: int) -> int:
    """Where in the period a step begins: before the task that follows the widest gap, seen over all repeats."""
    gaps = np.concatenate([[0], starts[1:] - ends[:-1]])
    whole = len(gaps) // period * period
    return int(np.argmax(np.median(gaps[:whole].reshape(-1, period), axis=0)))
