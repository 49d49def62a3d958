"""Modules of the model: host time, and device time of what their operators launched, forward and backward.

Where the modules come from (see `trainwright.analyze.module_tree`) is a column: with ranges of the user or the
framework instead of modules, the table says what those ranges cost.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.calls import calls_of
from trainwright.analyze.fields import RANK, count, ns, rows, text
from trainwright.analyze.module_tree import Modules, modules_of
from trainwright.core.result import Cell, Chart, Result, TableSpec
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

MODULES = TableSpec(
    name="modules",
    title="Modules of the model",
    help="Per rank and module path, largest device time first. All times but total_ns add up.",
    columns=(
        RANK,
        text("module", "path of the module, outermost first, parts joined by /"),
        count("count", "calls"),
        ns("total_ns", "host time from call to return; recursion counts once"),
        ns("device_ns", "device time launched by operators directly in the module, in the forward pass"),
        ns("self_ns", "host time without the modules inside"),
        ns("backward_device_ns", "device time of the backward pass of operators directly in the module"),
        ns("backward_self_ns", "host self time of the operators of that backward pass"),
        text("origin", "where modules come from: module path, python (nn.Module calls) or annotation (marked ranges)"),
    ),
    chart=Chart(kind="stacked", label=("rank", "module"), values=("device_ns", "backward_device_ns")),
    shown=("rank", "module", "count", "total_ns", "self_ns", "device_ns", "backward_device_ns", "backward_self_ns"),
    weight=("device_ns", "total_ns"),
)


def analyze(rank: RankStore) -> Result:
    """One row per module path."""
    modules = modules_of(rank)
    return Result(tables=(MODULES.table(_rows(rank, modules)),))


def _rows(rank: RankStore, modules: Modules) -> list[tuple[Cell, ...]]:
    calls = calls_of(rank)
    device, own = calls.task_ns, rank.column("slices", "self_ns")[calls.rows]
    outer = modules.visit_outer
    paths = len(modules.paths)
    self_ns = _sum(modules.visit_path, modules.visit_self_ns, paths)
    forward, backward = _sum(modules.task_path, device, paths), _sum(modules.task_backward_path, device, paths)
    order = np.lexsort((np.arange(paths), -self_ns, -(forward + backward)))
    return rows(
        [rank.rank] * paths,
        [modules.paths[at] for at in order],
        np.bincount(modules.visit_path, minlength=paths)[order],
        _sum(modules.visit_path[outer], modules.visit_total_ns[outer], paths)[order],
        forward[order],
        self_ns[order],
        backward[order],
        _sum(modules.op_backward_path, own, paths)[order],
        [modules.origin] * paths,
    )


def _sum(path: I64, values: I64, paths: int) -> I64:
    """Summed values per path, (paths,); path -1 is left out."""
    total = np.zeros(paths, np.int64)
    known = path >= 0
    np.add.at(total, path[known], values[known])
    return total


ANALYSIS = Analysis(
    code="modules",
    summary="Host time of every module and the device time of its forward and backward operators.",
    scope="rank",
    tables=(MODULES,),
    order=32,
    per_rank=analyze,
)
