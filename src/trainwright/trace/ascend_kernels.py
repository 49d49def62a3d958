"""Rows of an operator summary (``kernel_details.csv``, ``op_summary_*.csv``) and their places in a timeline."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.columns import NULL, TextPool
from trainwright.trace.csvtext import CsvTable, plain_name

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

#: Times of one task in two files may differ by this much: some versions write them with one decimal.
TOLERANCE_NS = 1_000
#: Columns without which a table is no operator summary.
NEEDED = (("Name", "Op Name"), ("Start Time", "Task Start Time"), ("Duration", "Task Duration"))
_CORE = ("Accelerator Core", "Task Type")


@dataclass(frozen=True, kw_only=True)
class KernelRows:
    """Operators that ran on a device, (N,) each; `name` is a code of the pool given to `kernel_rows`.

    Numbers are -1 where the file has none.
    """

    start: I64
    dur: I64
    wait: I64
    name: I32
    stream: I64
    task: I64
    device: I64
    blocks: I64
    op_type: pa.Array
    core: pa.Array
    shapes: pa.Array
    dtypes: pa.Array
    formats: pa.Array

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: I64) -> KernelRows:
        """Some of the rows; -1 gives an empty row."""
        at = pa.array(rows, mask=rows < 0)
        values = {}
        for field in fields(self):
            column = getattr(self, field.name)
            if isinstance(column, np.ndarray):
                values[field.name] = np.append(column, np.array([-1], column.dtype))[rows]
            else:
                values[field.name] = column.take(at)
        return KernelRows(**values)

    def and_also(self, more: KernelRows) -> KernelRows:
        """These rows and more of them."""
        values = {}
        for field in fields(self):
            ours, theirs = getattr(self, field.name), getattr(more, field.name)
            arrow = isinstance(ours, pa.Array)
            values[field.name] = pa.concat_arrays([ours, theirs]) if arrow else np.concatenate([ours, theirs])
        return KernelRows(**values)


def is_operator_summary(header: list[str]) -> bool:
    """Whether a table with these heads lists operators of a device with their times."""
    have = {plain_name(name) for name in header}
    return all(any(plain_name(name) in have for name in names) for names in (*NEEDED, _CORE))


def kernel_rows(table: CsvTable, names: TextPool) -> KernelRows:
    """The rows of a table that have a start; rows without one are counted as lost by `CsvTable.ns`."""
    start, known = table.ns("Start Time", "Task Start Time")
    dur, has_dur = table.ns("Duration", "Task Duration")
    wait, has_wait = table.ns("Wait Time", "Task Wait Time")
    rows = KernelRows(
        start=start,
        dur=np.where(has_dur, dur, 0),
        wait=np.where(has_wait, wait, -1),
        name=names.encode(table.text("Name", "Op Name"), table.rows),
        stream=table.ints("Stream ID"),
        task=table.ints("Task ID"),
        device=table.ints("Device_id", "Device"),
        blocks=table.ints("Block Dim", "Block Num"),
        op_type=table.text("Type", "OP Type"),
        core=table.text(*_CORE),
        shapes=table.text("Input Shapes", unquote=True),
        dtypes=table.text("Input Data Types", unquote=True),
        formats=table.text("Input Formats", unquote=True),
    )
    return rows if known.all() else rows.take(np.flatnonzero(known))


def match_rows(start: I64, name: I32, kernels: KernelRows) -> I64:
    """For each kernel row the index of the slice with its name and start, -1 where there is none.

    Exact starts count first; what is left takes the nearest slice of its name within `TOLERANCE_NS`. A slice is taken
    once.
    """
    keys, counts = np.unique(np.concatenate([start, kernels.start]), return_inverse=True)
    width = int(max(name.max(initial=0), kernels.name.max(initial=0))) + 2
    left = counts[: len(start)] * width + name + 1
    right = counts[len(start) :] * width + kernels.name + 1
    del keys
    matched = _pairs(left, right)
    _match_nearest(matched, start, name, kernels)
    return matched


def _match_nearest(matched: I64, start: I64, name: I32, kernels: KernelRows) -> None:
    """Give kernel rows that are not matched yet the nearest free slice of their name."""
    rows = np.flatnonzero((matched < 0) & (kernels.name != NULL))
    free = np.isin(name, kernels.name[rows])
    free[matched[matched >= 0]] = False
    slices = np.flatnonzero(free)
    slices = slices[np.lexsort((start[slices], name[slices]))]
    rows = rows[np.argsort(kernels.name[rows], kind="stable")]
    codes, first, count = np.unique(kernels.name[rows], return_index=True, return_counts=True)
    low, high = (np.searchsorted(name[slices], codes, side=side) for side in ("left", "right"))
    for at in np.flatnonzero(high > low).tolist():
        mine = rows[first[at] : first[at] + count[at]]
        candidates = slices[low[at] : high[at]]
        matched[mine] = _nearest(start[candidates], kernels.start[mine], candidates)


def _pairs(left: I64, right: I64) -> I64:
    """Index in `left` of each of `right`: the n-th of a key goes with the n-th of it."""
    by_left, by_right = np.argsort(left, kind="stable"), np.argsort(right, kind="stable")
    ordered, wanted = left[by_left], right[by_right]
    nth = np.arange(len(wanted)) - np.searchsorted(wanted, wanted, side="left")
    at = np.searchsorted(ordered, wanted, side="left") + nth
    inside = np.minimum(at, max(len(ordered) - 1, 0))
    found = np.full(len(right), -1, np.int64)
    if len(ordered):
        hit = (at < len(ordered)) & (ordered[inside] == wanted)
        found[by_right[hit]] = by_left[inside[hit]]
    return found


def _nearest(starts: I64, wanted: I64, rows: I64) -> I64:
    """The row whose start (rising) is nearest to each wanted one, -1 where none is near; no row is given twice."""
    at = np.clip(np.searchsorted(starts, wanted), 1, max(len(starts) - 1, 1))
    below, above = at - 1, np.minimum(at, len(starts) - 1)
    near = np.where(np.abs(starts[below] - wanted) <= np.abs(starts[above] - wanted), below, above)
    found = np.where(np.abs(starts[near] - wanted) <= TOLERANCE_NS, rows[near], -1)
    _, first = np.unique(found, return_index=True)
    once = np.zeros(len(found), np.bool_)
    once[first] = True
    return np.where(once, found, -1)
