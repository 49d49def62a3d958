"""Links between ranks: what the tasks inside communication operators carried, and how fast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.calls import slice_rows
from trainwright.analyze.comm_ops import group_members
from trainwright.analyze.fields import RANK, bandwidth, count, ns, rows, size, text, texts_at
from trainwright.analyze.grouping import group_by
from trainwright.core.result import Cell, Chart, Column, Result, TableSpec
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

LINKS = TableSpec(
    name="links",
    title="Links between ranks",
    help="Per rank, pair of ranks and transport: the tasks inside communication operators that carried bytes.",
    columns=(
        RANK,
        Column(name="src", unit="id", help="sending rank; global where the members of the group are known"),
        Column(name="dst", unit="id", help="receiving rank; global where the members of the group are known"),
        text("transport", "HCCS, RDMA, SDMA, PCIE, LOCAL, ..."),
        count("count", "tasks"),
        size("bytes", "bytes carried"),
        ns("time_ns", "summed duration of the tasks"),
        bandwidth("bandwidth", "bytes over time"),
    ),
    chart=Chart(kind="bars", label=("rank", "src", "dst", "transport"), values=("bandwidth",)),
    weight=("time_ns",),
)


def analyze(rank: RankStore) -> Result:
    """One row per pair of ranks and transport; tasks that carry nothing (waits, signals) are left out."""
    return Result(tables=(LINKS.table(_links(rank)),))


def _links(rank: RankStore) -> list[tuple[Cell, ...]]:
    task, carried = slice_rows(rank, "links"), rank.column("links", "bytes")
    src, dst = (rank.column("links", name) for name in ("src", "dst"))
    use = np.flatnonzero((carried > 0) & (src >= 0) & (dst >= 0) & (task >= 0))
    src, dst = (_global(rank, use, column[use]) for column in (src, dst))
    transport = rank.column("links", "transport")[use]
    groups = group_by(src, dst, transport)
    moved = groups.sum(carried[use])
    spent = groups.sum(rank.column("slices", "dur_ns")[task[use]])
    return rows(
        [rank.rank] * len(groups),
        groups.key(src),
        groups.key(dst),
        texts_at(rank.texts("links", "transport"), groups.key(transport)),
        groups.count,
        moved,
        spent,
        [byte / time if time else None for byte, time in zip(moved.tolist(), spent.tolist(), strict=True)],
    )


def _global(rank: RankStore, link: I64, local: I64) -> I64:
    """Global ranks of ranks within the groups of rows of `links`; unchanged where the members are not known."""
    members = group_members(rank)
    answer = np.asarray(local, np.int64).copy()
    codes = rank.column("links", "group")[link]
    for code, name in enumerate(rank.texts("links", "group")):
        ranks = np.array(members.get(name, ()), np.int64)
        mine = (codes == code) & (local < len(ranks))
        answer[mine] = ranks[local[mine]]
    return answer


ANALYSIS = Analysis(
    code="links",
    summary="Count, bytes, time and bandwidth of what communication carried between each pair of ranks.",
    scope="rank",
    tables=(LINKS,),
    order=44,
    per_rank=analyze,
)
