"""Split the idle time of every step into causes, each with its evidence."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.idle import CAUSES, Gaps, Piece, explain, find_gaps
from trainwright.analyze.intervals import disjoint
from trainwright.analyze.steps import StepWindow
from trainwright.analyze.work import Work, started_in, work_of
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
    title="Why the device was idle between its tasks",
    help="The causes of a step add up to its free_ns exactly.",
    columns=_COLUMNS,
    chart=Chart(kind="bars", label=("rank", "step", "cause"), values=("ns",)),
    shown=_SHOWN,
)
EDGES = TableSpec(
    name="scheduling_edges",
    title="Why the device was idle before the first and after the last task of a step",
    help="The causes of a step add up to its preparing_ns and tail_ns exactly.",
    columns=(*_COLUMNS[:2], Column(name="phase", unit="text", help="preparing or tail"), *_COLUMNS[2:]),
    shown=(*_SHOWN[:2], "phase", *_SHOWN[2:]),
)


def analyze(rank: RankStore) -> Result:
    """Both tables for all steps of a rank."""
    work = work_of(rank)
    inside: list[tuple[Cell, ...]] = []
    edges: list[tuple[Cell, ...]] = []
    for window in work.windows:
        tasks = np.concatenate([started_in(rank, work.compute, window), started_in(rank, work.comm, window)])
        tasks = tasks[np.argsort(rank.column("slices", "start_ns")[tasks], kind="stable")]
        if len(tasks):
            inside.extend(_rows(rank, work, window, find_gaps(rank, tasks)))
        for phase, gaps in _edges(rank, window, tasks):
            edges.extend((*row[:2], phase, *row[2:]) for row in _rows(rank, work, window, gaps))
    return Result(tables=(SCHEDULING.table(inside), EDGES.table(edges)))


def _edges(rank: RankStore, window: StepWindow, tasks: I64) -> list[tuple[str, Gaps]]:
    """The idle time before the first and after the last task, as gaps."""
    if not len(tasks):
        return [("tail", _gap(window.start_ns, window.end_ns, -1))]
    start = rank.column("slices", "start_ns")[tasks]
    last = int((start + rank.column("slices", "dur_ns")[tasks]).max())
    return [
        ("preparing", _gap(window.start_ns, int(start[0]), int(tasks[0]))),
        ("tail", _gap(last, window.end_ns, -1)),
    ]


def _gap(start: int, end: int, next_task: int) -> Gaps:
    spans = disjoint(np.array([start], np.int64), np.array([end], np.int64))
    return Gaps(spans=spans, next_task=np.full(len(spans), next_task, np.int64))


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
