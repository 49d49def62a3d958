"""Calls into the runtime and the driver (CUDA, HIP, AscendCL, ...) by name."""

from __future__ import annotations

import numpy as np

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.fields import RANK, count, mean, ns, rows, text, texts_at
from trainwright.analyze.grouping import group_by
from trainwright.core.result import Chart, Result, TableSpec
from trainwright.trace.store import RankStore

HOST_API = TableSpec(
    name="host_api",
    title="Runtime calls on the host",
    help="Per rank and call, largest total first. A call inside another counts in both.",
    columns=(
        RANK,
        text("api", "name of the call"),
        count("count", "calls"),
        ns("total_ns", "summed duration"),
        ns("mean_ns", "mean duration"),
        ns("min_ns", "shortest call"),
        ns("max_ns", "longest call"),
    ),
    chart=Chart(kind="bars", label=("rank", "api"), values=("total_ns",)),
    weight=("total_ns",),
)


def analyze(rank: RankStore) -> Result:
    """One row per call name."""
    calls = rank.kind("runtime")
    names, dur = rank.column("slices", "name")[calls], rank.column("slices", "dur_ns")[calls]
    groups = group_by(names)
    total = groups.sum(dur)
    order = np.argsort(-total, kind="stable")
    table = rows(
        [rank.rank] * len(groups),
        texts_at(rank.texts("slices", "name"), groups.key(names)[order]),
        groups.count[order],
        total[order],
        mean(total, groups.count)[order],
        groups.min(dur)[order],
        groups.max(dur)[order],
    )
    return Result(tables=(HOST_API.table(table),))


ANALYSIS = Analysis(
    code="host-api",
    summary="Count and time of runtime and driver calls on the host by name.",
    scope="rank",
    tables=(HOST_API,),
    order=60,
    per_rank=analyze,
)
