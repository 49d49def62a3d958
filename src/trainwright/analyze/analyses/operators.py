"""Operators called on the host: time on the host, and on the device in what they launched.

``self_ns`` is the time of an operator outside everything recorded inside it (other operators, Python functions,
runtime calls), so the self times of all slices of a thread add up to the time the thread was busy. ``total_ns``
counts recursive calls of one name once. ``device_ns`` is the summed duration of the device tasks that an operator
launched itself; tasks that run at the same time on several streams count each. All operators together with the row
``(no operator)`` add up to the device time of the table `kernels`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.calls import Calls, calls_of, detail, outermost
from trainwright.analyze.fields import NO_OPERATOR, RANK, count, ns, rows, share, shares, text, texts_at
from trainwright.analyze.grouping import group_by
from trainwright.core.result import Cell, Chart, Result, TableSpec
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

OPERATORS = TableSpec(
    name="operators",
    title="Operators on the host and the device time they caused",
    help="Per rank and operator name, largest device time first, then largest host self time.",
    columns=(
        RANK,
        text("name", f"operator; {NO_OPERATOR}: device tasks that no recorded operator launched"),
        count("count", "calls"),
        ns("self_ns", "host time outside everything recorded inside the operator"),
        ns("device_ns", "summed duration of the device tasks the operator launched itself"),
        ns("total_ns", "host time from call to return; recursion counts once"),
        ns("device_total_ns", "device_ns of the operator and of the operators inside it; recursion counts once"),
        share("share", "part of all device time; of all host self time where the rank shows no device"),
    ),
    chart=Chart(kind="bars", label=("rank", "name"), values=("share",)),
    shown=("rank", "name", "count", "self_ns", "total_ns", "device_ns", "share"),
    weight=("device_ns", "self_ns"),
)

OPERATOR_SHAPES = TableSpec(
    name="operator_shapes",
    title="Operators by input shapes",
    help="Per rank, operator name and input shapes; only where the profiler recorded shapes.",
    columns=(
        RANK,
        text("name", "operator"),
        text("shapes", "input shapes as the source writes them; empty where not recorded for the call"),
        count("count", "calls"),
        ns("self_ns", "host time outside everything recorded inside the operator"),
        ns("device_ns", "summed duration of the device tasks the operator launched itself"),
    ),
    weight=("device_ns", "self_ns"),
)


def analyze(rank: RankStore) -> Result:
    """One row per operator name, and one per name and input shapes."""
    calls = calls_of(rank)
    names = rank.column("slices", "name")[calls.rows]
    by_name, by_shapes = _operator_rows(rank, calls, names), _shape_rows(rank, calls, names)
    return Result(tables=(OPERATORS.table(by_name), OPERATOR_SHAPES.table(by_shapes)))


def _operator_rows(rank: RankStore, calls: Calls, names: I64) -> list[tuple[Cell, ...]]:
    own, device, within = rank.column("slices", "self_ns")[calls.rows], calls.device_ns, calls.device_total_ns
    once = outermost(calls.parent, names)
    host = np.where(once, rank.column("slices", "dur_ns")[calls.rows], 0)
    groups = group_by(names)
    self_ns, device_ns, total_ns = groups.sum(own), groups.sum(device), groups.sum(host)
    order = np.lexsort((groups.key(names), -self_ns, -device_ns))
    on_device = int(calls.task_ns.sum())
    parts, whole = (device_ns, on_device) if on_device else (self_ns, int(self_ns.sum()))
    table = rows(
        [rank.rank] * len(groups),
        texts_at(rank.texts("slices", "name"), groups.key(names)[order]),
        groups.count[order],
        self_ns[order],
        device_ns[order],
        total_ns[order],
        groups.sum(np.where(once, within, 0))[order],
        shares(parts[order], whole),
    )
    alone = int(calls.task_ns[calls.task_op < 0].sum())
    if alone:
        table.append((rank.rank, NO_OPERATOR, 0, 0, alone, 0, alone, alone / on_device))
    return table


def _shape_rows(rank: RankStore, calls: Calls, names: I64) -> list[tuple[Cell, ...]]:
    shapes = detail(rank, "ops", "shapes", calls.rows)
    if not (shapes >= 0).any():
        return []
    groups = group_by(names, shapes)
    self_ns = groups.sum(rank.column("slices", "self_ns")[calls.rows])
    device_ns = groups.sum(calls.device_ns)
    order = np.lexsort((groups.key(shapes), groups.key(names), -self_ns, -device_ns))
    return rows(
        [rank.rank] * len(groups),
        texts_at(rank.texts("slices", "name"), groups.key(names)[order]),
        texts_at(rank.texts("ops", "shapes"), groups.key(shapes)[order]),
        groups.count[order],
        self_ns[order],
        device_ns[order],
    )


ANALYSIS = Analysis(
    code="operators",
    summary="Host self and total time of every operator and the device time of what it launched, also by input shapes.",
    scope="rank",
    tables=(OPERATORS, OPERATOR_SHAPES),
    order=30,
    per_rank=analyze,
)
