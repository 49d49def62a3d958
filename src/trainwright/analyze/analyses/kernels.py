"""Device tasks by name, by type and by shapes.

All three tables hold every kernel, communication operator, memory copy and memory fill on the device, so their totals
are equal: the summed duration of the device's tasks. Tasks that run at the same time on several streams count each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.calls import device_tasks
from trainwright.analyze.fields import RANK, count, mean, ns, rows, share, shares, text
from trainwright.analyze.grouping import group_by
from trainwright.analyze.tasks import task_shapes, task_types
from trainwright.analyze.text_columns import TextColumn, stored_text
from trainwright.core.result import Cell, Chart, Column, Result, TableSpec
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

_NAME = text("name", "kernel, communication operator or copy as the source names it")
_TYPE = text("op_type", "operator type; told from the kernel's name where the source has none")
_CORE = text("core_type", "unit that ran it (AI_CORE, AI_VECTOR_CORE, AI_CPU, HCCL, GPU, ...)")
_FIGURES: tuple[Column, ...] = (
    count("count", "tasks"),
    ns("total_ns", "summed duration"),
    ns("min_ns", "shortest task"),
    ns("max_ns", "longest task"),
    ns("mean_ns", "mean duration"),
    share("share", "part of the summed duration of all device tasks of the rank"),
)

KERNELS = TableSpec(
    name="kernels",
    title="Device tasks by name",
    help="Per rank, name, type and core, largest total first.",
    columns=(RANK, _NAME, _TYPE, _CORE, *_FIGURES),
    chart=Chart(kind="bars", label=("rank", "name"), values=("total_ns",)),
    shown=("rank", "name", "op_type", "core_type", "count", "total_ns", "mean_ns", "max_ns", "share"),
    weight=("total_ns",),
)

KERNEL_TYPES = TableSpec(
    name="kernel_types",
    title="Device tasks by operator type",
    help="Per rank, operator type and core, largest total first.",
    columns=(RANK, _TYPE, _CORE, *_FIGURES),
    chart=Chart(kind="bars", label=("rank", "op_type", "core_type"), values=("total_ns",)),
    weight=("total_ns",),
)

KERNEL_SHAPES = TableSpec(
    name="kernel_shapes",
    title="Device tasks by input shapes",
    help="Per rank, name and input shapes (of the task, else of the operator that launched it), largest total first.",
    columns=(RANK, _NAME, text("shapes", "input shapes; empty where not recorded for the task"), *_FIGURES),
    weight=("total_ns",),
)


def analyze(rank: RankStore) -> Result:
    """The three tables; `kernel_shapes` is empty where no shapes were recorded."""
    tasks = device_tasks(rank)
    names = stored_text(rank, "slices", "name", tasks)
    cores = stored_text(rank, "kernels", "core_type", tasks)
    types, shapes = task_types(rank), task_shapes(rank)
    with_shapes = _rows(rank, [names, shapes]) if (shapes.codes >= 0).any() else []
    return Result(
        tables=(
            KERNELS.table(_rows(rank, [names, types, cores])),
            KERNEL_TYPES.table(_rows(rank, [types, cores])),
            KERNEL_SHAPES.table(with_shapes),
        )
    )


def _rows(rank: RankStore, keys: Sequence[TextColumn]) -> list[tuple[Cell, ...]]:
    """One row per combination of texts, with the figures of its tasks."""
    dur = rank.column("slices", "dur_ns")[device_tasks(rank)]
    groups = group_by(*(key.codes for key in keys))
    total = groups.sum(dur)
    order = np.argsort(-total, kind="stable")
    figures: tuple[I64, ...] = (groups.count, total, groups.min(dur), groups.max(dur), mean(total, groups.count))
    return rows(
        [rank.rank] * len(groups),
        *(key.at(groups.key(key.codes)[order]) for key in keys),
        *(figure[order] for figure in figures),
        shares(total[order], int(total.sum())),
    )


ANALYSIS = Analysis(
    code="kernels",
    summary="Count, total, shortest, longest and mean time of device tasks by name, by operator type and by shapes.",
    scope="rank",
    tables=(KERNELS, KERNEL_TYPES, KERNEL_SHAPES),
    order=36,
    per_rank=analyze,
)
