"""Every collective on every rank: when it arrived, how long it waited for the others, how long the transfer took.

See `trainwright.analyze.matching` for how collectives of different ranks are matched. Collectives of which only one
rank was recorded are listed too, without a wait.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.fields import RANK, count, known, ns, rows, size, text, texts_at
from trainwright.analyze.grouping import group_by
from trainwright.analyze.jobs import describe_jobs, job_numbers
from trainwright.analyze.matching import Matched, match_collectives
from trainwright.core.result import Cell, Chart, Column, Quality, Result, TableSpec
from trainwright.core.units import format_ns
from trainwright.trace.store import Run

COLLECTIVES = TableSpec(
    name="collectives",
    title="Collectives matched across ranks",
    help="One row per collective and rank. wait + transfer is the duration; both are empty without a partner.",
    columns=(
        text("group", "communication group; with its members where several groups have one name"),
        Column(name="seq", unit="id", help="number in the group; per operator, in order of start, where not recorded"),
        text("op", "allreduce, allgather, reducescatter, ..."),
        size("bytes", "message size per rank"),
        RANK,
        ns("arrive_ns", "start on this rank, on the clock of its source"),
        ns("wait_ns", "time until the last rank arrived, clocks aligned"),
        ns("transfer_ns", "the rest of the duration"),
        Column(name="last_rank", unit="id", help="the rank that arrived last"),
        count("ranks", "ranks on which the collective was recorded"),
        Column(name="job", unit="id", help="number of the job, where recordings of several were read together"),
    ),
    shown=("group", "seq", "op", "bytes", "rank", "arrive_ns", "wait_ns", "transfer_ns", "last_rank", "ranks"),
    weight=("wait_ns",),
)

COLLECTIVE_WAITS = TableSpec(
    name="collective_waits",
    title="Waiting in collectives by rank",
    help="Sums over the matched collectives of each rank. A slow rank waits least and arrives last most often.",
    columns=(
        RANK,
        count("count", "collectives matched with at least one other rank"),
        ns("wait_ns", "time spent waiting for the last rank"),
        ns("transfer_ns", "time after the last rank arrived"),
        count("arrived_last", "collectives in which this rank arrived last"),
    ),
    chart=Chart(kind="stacked", label=("rank",), values=("wait_ns", "transfer_ns")),
    weight=("wait_ns",),
)


def analyze(run: Run) -> Result:
    """Both tables; notes on several jobs, and where ranks of a group differ in number of collectives or in clocks."""
    matched = match_collectives(run.ranks)
    table = rows(
        texts_at(matched.group_texts, matched.group),
        matched.seq,
        texts_at(matched.op_texts, matched.op),
        known(matched.size),
        matched.rank,
        matched.start_ns,
        known(matched.wait_ns),
        known(matched.transfer_ns),
        known(matched.last_rank),
        matched.partners,
        matched.job,
    )
    tables = (COLLECTIVES.table(table), COLLECTIVE_WAITS.table(_waits(matched)))
    return Result(tables=tables, quality=tuple(_notes(matched, run)))


def _waits(matched: Matched) -> list[tuple[Cell, ...]]:
    use = np.flatnonzero(matched.partners > 1)
    ranks = matched.rank[use]
    groups = group_by(ranks)
    return rows(
        groups.key(ranks),
        groups.count,
        groups.sum(matched.wait_ns[use]),
        groups.sum(matched.transfer_ns[use]),
        groups.sum(matched.last_rank[use] == ranks),
    )


def _notes(matched: Matched, run: Run) -> Iterator[Quality]:
    file = str(run.ranks[0].unit.path)
    if len(np.unique(matched.job)) > 1:
        taking_part = [rank for rank in run.ranks if rank.rank in set(matched.rank.tolist())]
        jobs = job_numbers(taking_part)
        text = f"matched within each job only: {describe_jobs(taking_part, jobs)}; ranks collide or times lie apart"
        yield Quality(code="several-jobs", count=len(set(jobs)), example=text, file=file)
    if different := _different_counts(matched):
        yield Quality(code="collective-counts-differ", count=len(different), example=different[0], file=file)
    apart = np.flatnonzero(matched.offset_ns)
    if len(apart):
        most = apart[np.abs(matched.offset_ns[apart]).argmax()]
        text = f"clock of rank {matched.rank[most]} is {format_ns(int(matched.offset_ns[most]))} from that of its group"
        ranks = len(np.unique(matched.rank[apart]))
        yield Quality(code="clocks-aligned", count=ranks, example=text, file=file)


def _different_counts(matched: Matched) -> list[str]:
    """In words, every (group, operator) whose number differs between the ranks of the group."""
    different = []
    by_group = group_by(matched.job, matched.group)
    for at, group in enumerate(by_group.key(matched.group)):
        mine = by_group.order[by_group.first[at] : by_group.first[at] + by_group.count[at]]
        ranks = np.unique(matched.rank[mine])
        for op in np.unique(matched.op[mine]):
            same = mine[matched.op[mine] == op]
            counts = np.bincount(np.searchsorted(ranks, matched.rank[same]), minlength=len(ranks))
            if counts.min() != counts.max():
                low, high = int(counts.argmin()), int(counts.argmax())
                names = [*texts_at(matched.op_texts, op[None]), *texts_at(matched.group_texts, group[None])]
                different.append(
                    f"{names[0] or 'unnamed operator'} of group {names[1] or 'not named'}: "
                    f"rank {ranks[low]} has {counts[low]}, rank {ranks[high]} has {counts[high]}"
                )
    return different


ANALYSIS = Analysis(
    code="collectives",
    summary="Matches collectives across ranks: arrival, waiting for the last rank, transfer, and who was last.",
    scope="run",
    tables=(COLLECTIVES, COLLECTIVE_WAITS),
    order=42,
    per_run=analyze,
)
