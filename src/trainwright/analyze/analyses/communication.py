"""Communication operators by operator, group and message size, and the links between ranks.

Bandwidths follow NCCL-tests (PERFORMANCE.md): algorithm bandwidth is message size over time, where the message of an
all-gather or reduce-scatter is the full buffer; bus bandwidth is that times 2(n-1)/n for all-reduce, (n-1)/n for
all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for all others, with n ranks. Time includes waiting for
the other ranks (see the table `collectives` for the split), so these are what the job got, not what the link can do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.calls import detail, slice_rows
from trainwright.analyze.comm_ops import CommOps, bus_factor, comm_ops, group_members, transports
from trainwright.analyze.fields import RANK, bandwidth, count, known, ns, rows, size, text, texts_at
from trainwright.analyze.grouping import Groups, group_by
from trainwright.core.result import Cell, Chart, Column, Result, TableSpec
from trainwright.core.units import format_bytes
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

#: Upper bounds of the size buckets: powers of 4 from 1 KiB to 1 TiB; a message of exactly a bound is in the next.
BOUNDS = 4 ** np.arange(5, 21, dtype=np.int64)

COMMUNICATION = TableSpec(
    name="communication",
    title="Communication operators",
    help="Per rank, operator, group, message size and algorithm, largest total first. Bandwidths as in NCCL-tests.",
    columns=(
        RANK,
        text("op", "allreduce, allgather, reducescatter, alltoall, broadcast, send, recv, ..."),
        text("group", "communication group"),
        Column(name="group_size", unit="count", help="ranks in the group"),
        text("size_bucket", "range of the message size per rank (the larger of input and output)"),
        text("algorithm", "algorithm the library chose"),
        count("count", "operators"),
        ns("total_ns", "summed duration, waiting for other ranks included"),
        ns("min_ns", "shortest operator"),
        ns("max_ns", "longest operator"),
        size("bytes", "summed message size"),
        bandwidth("algorithm_bandwidth", "message size over time"),
        bandwidth("bus_bandwidth", "algorithm bandwidth times the factor of the operator: comparable to the link"),
        text("transport", "what carried it (HCCS, RDMA, PCIE, ...), most bytes first"),
    ),
    chart=Chart(kind="bars", label=("rank", "op", "group", "size_bucket"), values=("total_ns",)),
)

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
)


def analyze(rank: RankStore) -> Result:
    """Both tables."""
    return Result(tables=(COMMUNICATION.table(_operators(rank)), LINKS.table(_links(rank))))


def bucket_labels() -> list[str]:
    """Names of the size buckets; the last is for operators whose size is not known."""
    names = [format_bytes(int(bound)).replace(".00", "") for bound in BOUNDS]
    between = [f"{low} - {high}" for low, high in zip(names, names[1:], strict=False)]
    return [f"below {names[0]}", *between, f"from {names[-1]}", "unknown"]


def _operators(rank: RankStore) -> list[tuple[Cell, ...]]:
    ops = comm_ops(rank)
    dur = rank.column("slices", "dur_ns")[ops.rows]
    bucket = np.where(ops.size >= 0, np.searchsorted(BOUNDS, ops.size, side="right"), len(BOUNDS) + 1)
    algorithm = np.asarray(detail(rank, "collectives", "algorithm", ops.rows), np.int64)
    groups = group_by(ops.op.codes, ops.group.codes, ops.group_size, bucket, algorithm)
    total = groups.sum(dur)
    order = np.argsort(-total, kind="stable")
    labels = bucket_labels()
    names = ops.op.at(groups.key(ops.op.codes))
    carried = groups.sum(np.maximum(ops.size, 0))
    recorded = groups.key(ops.size) >= 0
    speed = [
        moved / spent if sure and spent else None
        for moved, spent, sure in zip(carried.tolist(), total.tolist(), recorded.tolist(), strict=True)
    ]
    factor = [bus_factor(op, ranks) for op, ranks in zip(names, groups.key(ops.group_size).tolist(), strict=True)]
    bus = [None if s is None or f is None else s * f for s, f in zip(speed, factor, strict=True)]
    carriers = _transports(rank, ops, groups)
    return rows(
        [rank.rank] * len(groups),
        [names[at] for at in order],
        ops.group.at(groups.key(ops.group.codes)[order]),
        known(groups.key(ops.group_size)[order]),
        [labels[at] for at in groups.key(bucket)[order]],
        texts_at(rank.texts("collectives", "algorithm"), groups.key(algorithm)[order]),
        groups.count[order],
        total[order],
        groups.min(dur)[order],
        groups.max(dur)[order],
        [int(carried[at]) if recorded[at] else None for at in order],
        [speed[at] for at in order],
        [bus[at] for at in order],
        [carriers[at] for at in order],
    )


def _transports(rank: RankStore, ops: CommOps, groups: Groups) -> list[str | None]:
    """Transports seen in the operators of each group, in the order in which the operators name them."""
    if not rank.rows("links"):
        return [None] * len(groups)
    found: list[dict[str, None]] = [{} for _ in range(len(groups))]
    for at, names in zip(groups.number.tolist(), transports(rank, ops), strict=True):
        found[at].update(dict.fromkeys(names.split(", ") if names else ()))
    return [", ".join(names) or None for names in found]


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
    code="communication",
    summary="Count, time, bytes and bandwidth of communication by operator, group and message size, and by link.",
    scope="rank",
    tables=(COMMUNICATION, LINKS),
    order=40,
    per_rank=analyze,
)
