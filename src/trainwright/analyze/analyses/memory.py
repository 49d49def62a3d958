"""Peak memory of every device and component, and what was alive at the peak.

``memory_peak`` adds up to the bytes at the peak: allocations that were alive, by the operator that made them, and what
is left: memory allocated before the trace started, less what was released of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.fields import NO_OPERATOR, RANK, count, ns, size, text
from trainwright.analyze.grouping import group_by
from trainwright.analyze.memory_events import Allocations, allocations, operators_at
from trainwright.analyze.text_columns import TextColumn, first_known
from trainwright.core.result import Cell, Chart, Result, TableSpec
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

#: Operators listed per peak; the rest is one row.
OPERATORS = 50
BEFORE = "(allocated before the trace)"
REST = "(other operators)"

MEMORY = TableSpec(
    name="memory",
    title="Peak memory",
    help="Per rank and series (device, component, what is counted): the largest value and when it was first reached.",
    columns=(
        RANK,
        text("series", "device, component and what is counted: allocated, reserved or active"),
        size("peak_bytes", "largest value"),
        ns("at_ns", "when it was first reached, on the clock of the source"),
        text("origin", "samples, allocator (totals recorded with every event), or events (summed from 0 at the start)"),
    ),
    chart=Chart(kind="bars", label=("rank", "series"), values=("peak_bytes",)),
    weight=("peak_bytes",),
)

MEMORY_PEAK = TableSpec(
    name="memory_peak",
    title="What was alive at the memory peak",
    help=f"Per rank and series, largest first, at most {OPERATORS} operators. The rows add up to the peak.",
    columns=(
        RANK,
        text("series", "series of the table memory"),
        text("op", "innermost operator running when the memory was allocated"),
        size("bytes", f"bytes alive at the peak; {BEFORE} is negative where more was released than allocated since"),
        count("count", "allocations"),
    ),
    chart=Chart(kind="bars", label=("rank", "series", "op"), values=("bytes",)),
    weight=("bytes",),
)


def analyze(rank: RankStore) -> Result:
    """Both tables; empty where the profiler did not record memory."""
    peaks: list[tuple[Cell, ...]] = list(_sampled(rank))
    alive: list[tuple[Cell, ...]] = []
    for events in allocations(rank):
        series = f"{events.device} allocated"
        at = events.peak
        origin = "allocator" if events.recorded else "events"
        peaks.append((rank.rank, series, int(events.total[at]), int(events.ts_ns[at]), origin))
        peaks.extend(_reserved(rank, events))
        alive.extend((rank.rank, series, *row) for row in _alive(rank, events))
    return Result(tables=(MEMORY.table(peaks), MEMORY_PEAK.table(alive)))


def _sampled(rank: RankStore) -> Iterator[tuple[Cell, ...]]:
    """Peaks of the totals that the source sampled."""
    device, component = (rank.column("memory_usage", name) for name in ("device", "component"))
    devices, components = (rank.texts("memory_usage", name) for name in ("device", "component"))
    ts = rank.column("memory_usage", "ts_ns")
    groups = group_by(device, component)
    for key_device, key_component, first, rows in zip(
        groups.key(device), groups.key(component), groups.first, groups.count, strict=True
    ):
        mine = groups.order[first : first + rows]
        mine = mine[np.argsort(ts[mine], kind="stable")]
        names = [devices[key_device]] if key_device >= 0 else []
        names += [components[key_component]] if key_component >= 0 else []
        for what in ("allocated", "reserved", "active"):
            values = rank.column("memory_usage", f"{what}_bytes")[mine]
            at = int(values.argmax())
            if values[at] > 0:
                yield rank.rank, " ".join([*names, what]), int(values[at]), int(ts[mine[at]]), "samples"


def _reserved(rank: RankStore, events: Allocations) -> Iterator[tuple[Cell, ...]]:
    """Peak of what the allocator held from the device, where it recorded that."""
    reserved = np.append(rank.column("memory_events", "reserved_bytes"), -1)[events.row]
    at = int(reserved.argmax())
    if reserved[at] > 0:
        yield rank.rank, f"{events.device} reserved", int(reserved[at]), int(events.ts_ns[at]), "allocator"


def _alive(rank: RankStore, events: Allocations) -> list[tuple[Cell, ...]]:
    """Operator, bytes and number of allocations alive at the peak, adding up to the peak."""
    alive = events.live_at(events.peak)
    ops = _operators(rank, events, alive)
    groups = group_by(ops.codes)
    held, number = groups.sum(events.size[alive]), groups.count
    order = np.argsort(-held, kind="stable")
    top, rest = order[:OPERATORS], order[OPERATORS:]
    names = [name or NO_OPERATOR for name in ops.at(groups.key(ops.codes)[top])]
    table: list[tuple[Cell, ...]] = list(zip(names, held[top].tolist(), number[top].tolist(), strict=True))
    if len(rest):
        table.append((REST, int(held[rest].sum()), int(number[rest].sum())))
    before = int(events.total[events.peak]) - int(held.sum())
    if before:
        table.append((BEFORE, before, 0))
    return table


def _operators(rank: RankStore, events: Allocations, alive: I64) -> TextColumn:
    """The operator of each allocation: the one the source names, else the one that was running."""
    named = TextColumn(
        codes=np.asarray(rank.column("memory_events", "op")[events.row[alive]], np.int64),
        texts=rank.texts("memory_events", "op"),
    )
    running = operators_at(rank, events.ts_ns[alive])
    codes = np.append(rank.column("slices", "name"), -1)[running]
    return first_known(named, TextColumn(codes=np.asarray(codes, np.int64), texts=rank.texts("slices", "name")))


ANALYSIS = Analysis(
    code="memory",
    summary="Peak memory of every device and component, and which operators had allocated what was alive at the peak.",
    scope="rank",
    tables=(MEMORY, MEMORY_PEAK),
    order=50,
    per_rank=analyze,
)
