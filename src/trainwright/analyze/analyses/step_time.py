"""Split every step of every rank into computing, communication, copies, free time and bubble, exactly.

Definitions (those of the Ascend PyTorch profiler, so that figures can be compared with its ``step_trace_time.csv``):
computing is the union of compute tasks, communication the union of communication operators, not overlapped their part
outside computing; the stage runs from the first to the last of these tasks; free is the rest of the stage. Hence
``computing + not_overlapped + free = stage + bubble``, to the nanosecond. Three differ: a task that runs across the
border of two steps is cut there (the profiler charges the step in which it starts with all of it, and the next step
with idle time meanwhile), the bubble counts every p2p operator (not only receives) and only where nothing computes,
and ``total`` also holds the tail, the time from the last task to the end of the step's mark. After the last mark, and
before a stretch in which no task starts, a step lasts until its tasks end, so no busy time is lost.
"""

from __future__ import annotations

import numpy as np

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.fields import rows
from trainwright.analyze.grouping import group_by
from trainwright.analyze.intervals import intersect, subtract, sum_by_owner
from trainwright.analyze.step_work import step_work, window_spans
from trainwright.analyze.steps import row_of_windows
from trainwright.analyze.work import Work, spans_of, started_in, work_of
from trainwright.core.result import Cell, Chart, Column, Quality, Result, TableSpec
from trainwright.core.units import format_ns
from trainwright.trace.store import RankStore


def _ns(name: str, text: str) -> Column:
    return Column(name=name, unit="ns", help=text)


STEP_TIME = TableSpec(
    name="step_time",
    title="Where the step time goes",
    help="Per rank and step. computing + not_overlapped + free = stage + bubble; with preparing and tail: total.",
    columns=(
        Column(name="rank", unit="id", help="rank"),
        Column(name="step", unit="id", help="step number; empty for all work outside the step marks"),
        _ns("computing_ns", "union of compute tasks"),
        _ns("communication_ns", "union of communication operators"),
        _ns("overlapped_ns", "communication while something computes"),
        _ns("not_overlapped_ns", "communication while nothing computes"),
        _ns("free_ns", "neither computing nor communication, between the first and the last task"),
        _ns("bubble_ns", "p2p transfers while nothing computes: the pipeline waits for a neighbour"),
        _ns("stage_ns", "first to last task, minus the bubble"),
        _ns("preparing_ns", "start of the step to its first task"),
        _ns("memcpy_ns", "the part of free in which the device copies or fills memory"),
        _ns("total_ns", "preparing + computing + not overlapped + free + tail"),
        _ns("tail_ns", "last task to the end of the step"),
        _ns("start_ns", "start of the step on the clock of the source"),
        Column(name="tasks", unit="count", help="compute and communication tasks that start in the step"),
        Column(name="origin", unit="text", help="how the step was found: marked, periodic, whole or outside"),
    ),
    chart=Chart(
        kind="stacked",
        label=("rank", "step"),
        values=("computing_ns", "not_overlapped_ns", "free_ns", "preparing_ns", "tail_ns"),
    ),
    shown=(
        "rank", "step", "total_ns", "computing_ns", "not_overlapped_ns", "overlapped_ns", "free_ns", "memcpy_ns",
        "bubble_ns", "preparing_ns", "tail_ns",
    ),
    weight=("total_ns",),
)  # fmt: skip


def analyze(rank: RankStore) -> Result:
    """One row per step; a note where steps had to be guessed or the run shows no device."""
    work = work_of(rank)
    return Result(tables=(STEP_TIME.table(_rows(rank, work)),), quality=tuple(_notes(rank, work)))


def _rows(rank: RankStore, work: Work) -> list[tuple[Cell, ...]]:
    """One row per step, and one for all stretches outside the marks."""
    steps, count = step_work(rank), len(work.windows)
    windows = window_spans(work.windows)
    start, end = (np.array([getattr(w, name) for w in work.windows], np.int64) for name in ("start_ns", "end_ns"))
    computing, communication = sum_by_owner(steps.computing, count), sum_by_owner(steps.communication, count)
    overlapped = sum_by_owner(intersect(steps.communication, steps.computing), count)
    free, not_overlapped = sum_by_owner(steps.free, count), communication - overlapped
    bubble = sum_by_owner(subtract(intersect(windows, spans_of(rank, work.p2p)), steps.computing), count)
    copies = sum_by_owner(intersect(steps.free, spans_of(rank, work.copy)), count)
    preparing, tail = steps.first_ns - start, end - steps.last_ns
    by_row = group_by(row_of_windows(work.windows))
    first = [work.windows[at] for at in by_row.key(np.arange(count))]
    parts = (
        computing, communication, overlapped, not_overlapped, free, bubble, steps.last_ns - steps.first_ns - bubble,
        preparing, copies, end - start, tail,
    )  # fmt: skip
    return rows(
        [rank.rank] * len(first), [window.step for window in first], *(by_row.sum(part) for part in parts),
        by_row.min(start), by_row.sum(started_in(rank, work.tasks, work.windows)), [window.origin for window in first],
    )  # fmt: skip


def _notes(rank: RankStore, work: Work) -> list[Quality]:
    notes = []
    file = str(rank.unit.path)
    origin = work.windows[0].origin if work.windows else None
    if origin == "periodic":
        text = f"no step marks: {len(work.windows)} steps found by the repetition of tasks"
        notes.append(Quality(code="steps-by-period", count=len(work.windows), example=text, file=file))
    if origin == "whole":
        notes.append(Quality(code="steps-synthetic", count=1, example="no step marks: one step for all", file=file))
    outside = [window for window in work.windows if window.origin == "outside"]
    if len(outside) > 1:
        spent = format_ns(sum(window.end_ns - window.start_ns for window in outside))
        text = f"work outside all step marks in {len(outside)} stretches, {spent} in all: one row without a step number"
        notes.append(Quality(code="outside-steps", count=len(outside), example=text, file=file))
    if work.windows and not work.on_device:
        text = "no device in the trace: operators on the host count as computing"
        notes.append(Quality(code="no-device", count=1, example=text, file=file))
    if work.on_device and len(work.comm) and not len(work.compute):
        text = "communication only: no compute task was recorded, so free time holds the computing"
        notes.append(Quality(code="no-compute-tasks", count=1, example=text, file=file))
    if not work.windows:
        notes.append(Quality(code="no-events", count=1, example="nothing with a time: no step breakdown", file=file))
    return notes


ANALYSIS = Analysis(
    code="step-time",
    summary="Splits every step into computing, communication, free time, bubble and preparing, exactly.",
    scope="rank",
    tables=(STEP_TIME,),
    order=10,
    per_rank=analyze,
)
