"""Split the idle time of every step into causes, each with its evidence."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.grouping import group_by
from trainwright.analyze.idle import CAUSES, Gaps, Piece, explain, find_gaps
from trainwright.analyze.intervals import disjoint
from trainwright.analyze.step_work import step_work
from trainwright.analyze.steps import StepWindow, row_of_windows
from trainwright.analyze.work import Work, work_of
from trainwright.core.result import Cell, Chart, Column, Result, TableSpec
from trainwright.core.units import format_ns
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

#: Longest name quoted as evidence.
NAME_CHARS = 80

_COLUMNS = (
    Column(name="rank", unit="id", help="rank"),
    Column(name="step", unit="id", help="step number; empty for time outside all step marks"),
    Column(name="cause", unit="text", help="; ".join(f"{cause}: {text}" for cause, text in CAUSES.items())),
    Column(name="ns", unit="ns", help="time with this cause"),
    Column(name="share", unit="share", help="of the idle time of the step"),
    Column(name="intervals", unit="count", help="stretches of time with this cause"),
    Column(name="largest_ns", unit="ns", help="the longest stretch"),
    Column(name="largest_at_ns", unit="ns", help="where it begins, since the start of the step"),
    Column(name="evidence", unit="text", help="what was recorded during the longest stretch"),
)
_SHOWN = ("rank", "step", "cause", "ns", "share", "intervals", "largest_ns", "evidence")

SCHEDULING = TableSpec(
    name="scheduling",
    title="Idle time between the tasks of a step, by cause",
    help="The causes of a step add up to its free_ns exactly.",
    columns=_COLUMNS,
    chart=Chart(kind="bars", label=("rank", "step", "cause"), values=("ns",)),
    shown=_SHOWN,
    weight=("ns",),
)
EDGES = TableSpec(
    name="scheduling_edges",
    title="Idle time before the first and after the last task of a step, by cause",
    help="The causes of a step add up to its preparing_ns and tail_ns exactly.",
    columns=(*_COLUMNS[:2], Column(name="phase", unit="text", help="preparing or tail"), *_COLUMNS[2:]),
    shown=(*_SHOWN[:2], "phase", *_SHOWN[2:]),
    weight=("ns",),
)


def analyze(rank: RankStore) -> Result:
    """Both tables for all steps of a rank."""
    work, steps = work_of(rank), step_work(rank)
    if not work.windows:
        return Result(tables=(SCHEDULING.table([]), EDGES.table([])))
    inside: list[tuple[Cell, ...]] = []
    edges: list[tuple[Cell, ...]] = []
    by_row = group_by(row_of_windows(work.windows))
    row_of_free = by_row.number[steps.free.owner]
    free = np.argsort(row_of_free, kind="stable")
    borders = np.searchsorted(row_of_free[free], np.arange(len(by_row) + 1))
    for row, windows in enumerate(np.split(by_row.order, by_row.first[1:])):
        step = work.windows[windows[0]]
        idle = steps.free.take(free[borders[row] : borders[row + 1]])
        inside.extend(_rows(rank, work, step, find_gaps(rank, work.tasks, idle)))
        for phase, gaps in _edges(rank, work, windows):
            edges.extend((*found[:2], phase, *found[2:]) for found in _rows(rank, work, step, gaps))
    return Result(tables=(SCHEDULING.table(inside), EDGES.table(edges)))


def _edges(rank: RankStore, work: Work, windows: I64) -> list[tuple[str, Gaps]]:
    """The idle time before the first and after the last busy moment of some windows, as gaps."""
    steps = step_work(rank)
    borders = np.array([(work.windows[at].start_ns, work.windows[at].end_ns) for at in windows], np.int64)
    tail = disjoint(steps.last_ns[windows], borders[:, 1])
    return [
        ("preparing", find_gaps(rank, work.tasks, disjoint(borders[:, 0], steps.first_ns[windows]))),
        ("tail", Gaps(spans=disjoint(tail.start, tail.end), next_task=np.full(len(tail), -1, np.int64))),
    ]


def _rows(rank: RankStore, work: Work, window: StepWindow, gaps: Gaps) -> list[tuple[Cell, ...]]:
    """One row per cause, the largest first."""
    if not len(gaps.spans):
        return []
    pieces: dict[str, list[Piece]] = defaultdict(list)
    for piece in explain(rank, work, gaps):
        if len(piece.spans):
            pieces[piece.cause].append(piece)
    idle = gaps.spans.measure
    rows: list[tuple[Cell, ...]] = []
    for cause, parts in pieces.items():
        total = sum(part.spans.measure for part in parts)
        biggest = max(parts, key=lambda part: int(part.spans.length.max()))
        at = int(np.argmax(biggest.spans.length))
        start, length = int(biggest.spans.start[at]), int(biggest.spans.length[at])
        evidence = _evidence(rank, cause, biggest.rows, start, start + length, gaps, int(biggest.spans.owner[at]))
        rows.append((
            rank.rank, window.step, cause, total, total / idle, sum(len(part.spans) for part in parts), length,
            start - window.start_ns, evidence,
        ))  # fmt: skip
    return sorted(rows, key=lambda row: -int(row[3] or 0))


def _evidence(rank: RankStore, cause: str, rows: I64, low: int, high: int, gaps: Gaps, gap: int) -> str:
    """The longest-lasting proof inside [low, high), and the task that ended the gap."""
    words = []
    if len(rows):
        start = rank.column("slices", "start_ns")[rows]
        end = start + rank.column("slices", "dur_ns")[rows]
        overlapping = np.flatnonzero((start < high) & (end > low))
        if len(overlapping):
            rows, start, end = rows[overlapping], start[overlapping], end[overlapping]
            inside = np.minimum(end, high) - np.maximum(start, low)
            # of nested slices that cover the same time the shortest says most
            best = np.lexsort((end - start, -inside))[0]
            words.append(f"{_name(rank, int(rows[best]))} ({format_ns(int(inside[best]))})")
    elif cause == "unknown":
        words.append("the host recorded nothing")
    if gap < len(gaps.next_task) and gaps.next_task[gap] >= 0:
        words.append(f"before {_name(rank, int(gaps.next_task[gap]))}")
    return ", ".join(words) or CAUSES[cause]


def _name(rank: RankStore, row: int) -> str:
    text: str = rank.texts("slices", "name")[rank.column("slices", "name")[row]]
    return text if len(text) <= NAME_CHARS else text[: NAME_CHARS - 1] + "…"


ANALYSIS = Analysis(
    code="scheduling",
    summary="Splits idle time into host-bound launch, synchronisation, data loading, garbage collection and more.",
    scope="rank",
    tables=(SCHEDULING, EDGES),
    order=20,
    per_rank=analyze,
)
