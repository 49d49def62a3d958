"""Split every step of every rank into computing, communication, copies, free time and bubble, exactly.

Definitions (those of the Ascend PyTorch profiler, so that figures can be compared with its ``step_trace_time.csv``):
a task belongs to the step in which it starts; computing is the union of compute tasks, communication the union of
communication operators, not overlapped their part outside computing; the stage runs from the first to the last of
these tasks; free is the rest of the stage. Hence ``computing + not_overlapped + free = stage + bubble``, to the
nanosecond. Two differ: the bubble counts every p2p operator (not only receives) and only where nothing computes, and
``total`` also holds the tail, the time from the last task to the end of the step's mark.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.intervals import intersect, join, subtract
from trainwright.analyze.steps import StepWindow
from trainwright.analyze.work import Work, spans_of, started_in, work_of
from trainwright.core.result import Cell, Chart, Column, Quality, Result, TableSpec
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]


def _ns(name: str, text: str) -> Column:
    return Column(name=name, unit="ns", help=text)


STEP_TIME = TableSpec(
    name="step_time",
    title="Where the step time goes",
    help="Per rank and step. computing + not_overlapped + free = stage + bubble; with preparing and tail: total.",
    columns=(
        Column(name="rank", unit="id", help="rank"),
        Column(name="step", unit="id", help="step number; empty for work outside all step marks"),
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
)  # fmt: skip


def analyze(rank: RankStore) -> Result:
    """One row per step; a note where steps had to be guessed or the run shows no device."""
    work = work_of(rank)
    rows = [_row(rank, work, window) for window in work.windows]
    return Result(tables=(STEP_TIME.table(rows),), quality=tuple(_notes(rank, work)))


def _row(rank: RankStore, work: Work, window: StepWindow) -> tuple[Cell, ...]:
    compute_rows, comm_rows = (started_in(rank, rows, window) for rows in (work.compute, work.comm))
    computing, communication = spans_of(rank, compute_rows), spans_of(rank, comm_rows)
    overlapped = intersect(communication, computing).measure
    busy = join(computing, communication)
    tasks = len(compute_rows) + len(comm_rows)
    first, last = _extent(rank, np.concatenate([compute_rows, comm_rows]), window)
    not_overlapped = communication.measure - overlapped
    free = last - first - busy.measure
    bubble = subtract(spans_of(rank, started_in(rank, work.p2p, window)), computing).measure
    copies = subtract(spans_of(rank, started_in(rank, work.copy, window)), busy).clip(first, last).measure
    preparing, tail = first - window.start_ns, max(window.end_ns - last, 0)
    return (
        rank.rank, window.step, computing.measure, communication.measure, overlapped, not_overlapped, free, bubble,
        last - first - bubble, preparing, copies, preparing + computing.measure + not_overlapped + free + tail, tail,
        window.start_ns, tasks, window.origin,
    )  # fmt: skip


def _extent(rank: RankStore, rows: I64, window: StepWindow) -> tuple[int, int]:
    """First start and last end of some slices; the start of the window, twice, when there are none."""
    if not len(rows):
        return window.start_ns, window.start_ns
    start = rank.column("slices", "start_ns")[rows]
    return int(start.min()), int((start + rank.column("slices", "dur_ns")[rows]).max())


def _notes(rank: RankStore, work: Work) -> list[Quality]:
    notes = []
    file = str(rank.unit.path)
    origin = work.windows[0].origin if work.windows else None
    if origin == "periodic":
        text = f"no step marks: {len(work.windows)} steps found by the repetition of tasks"
        notes.append(Quality(code="steps-by-period", count=len(work.windows), example=text, file=file))
    if origin == "whole":
        notes.append(Quality(code="steps-synthetic", count=1, example="no step marks: one step for all", file=file))
    if work.windows and not work.on_device:
        text = "no device in the trace: operators on the host count as computing"
        notes.append(Quality(code="no-device", count=1, example=text, file=file))
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
