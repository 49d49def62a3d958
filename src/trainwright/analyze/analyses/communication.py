"""Communication operators by operator, group and message size, for each rank.

Bandwidths follow NCCL-tests (PERFORMANCE.md): algorithm bandwidth is message size over time, where the message of an
all-gather or reduce-scatter is the full buffer; bus bandwidth is that times 2(n-1)/n for all-reduce, (n-1)/n for
all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for all others, with n ranks. Time includes waiting for
the other ranks (see the table `collectives` for the split), so these are what the job got, not what the link can do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.calls import detail
from trainwright.analyze.comm_ops import CommOps, bus_factor, comm_ops, transports
from trainwright.analyze.fields import RANK, bandwidth, count, known, ns, rows, size, text, texts_at
from trainwright.analyze.grouping import Groups, group_by
from trainwright.core.result import Cell, Chart, Column, Quality, Result, TableSpec
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
        text("op", "allreduce, allgather, reducescatter, alltoall, broadcast, send, recv, ...; empty: nothing tells"),
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
    shown=(
        "rank", "op", "group", "group_size", "size_bucket", "count", "total_ns", "bytes", "bus_bandwidth", "transport",
    ),
    weight=("total_ns",),
)  # fmt: skip


def analyze(rank: RankStore) -> Result:
    """One row per operator, group, size bucket and algorithm; a note where nothing tells what an operator is."""
    return Result(tables=(COMMUNICATION.table(_operators(rank)),), quality=tuple(_notes(rank)))


def _notes(rank: RankStore) -> Iterator[Quality]:
    ops = comm_ops(rank)
    unnamed = ops.rows[ops.op.codes < 0]
    if len(unnamed):
        name = rank.texts("slices", "name")[rank.column("slices", "name")[unnamed[0]]]
        text = f"{name}: neither its name nor a host call tells the operator, so it counts as no bubble"
        yield Quality(code="operator-unknown", count=len(unnamed), example=text, file=str(rank.unit.path))


def bucket_labels() -> list[str]:
    """Names of the size buckets; the last is for operators whose size is not known."""
    names = [format_bytes(int(bound)).replace(".00", "") for bound in BOUNDS]
    between = [f"{low} - {high}" for low, high in pairwise(names)]
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


ANALYSIS = Analysis(
    code="communication",
    summary="Count, time, bytes and bandwidth of communication by operator, group and message size.",
    scope="rank",
    tables=(COMMUNICATION,),
    order=40,
    per_rank=analyze,
)
