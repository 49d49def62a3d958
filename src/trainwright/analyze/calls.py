"""The call tree of host operators and the device tasks each launched.

A device task belongs to the operator that launched it: by the operator id the task carries, else through the host call
that shares the task's link: the innermost operator around that call. Where the call runs on a thread without operators
(the consumer of an asynchronous launch queue), the link of the queue entry around it leads back to the producer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Kinds that are device work by themselves; a communication operator contains its `comm_task` slices.
TASK_KINDS = ("kernel", "comm", "memcpy", "memset")


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Operators as a tree, and the tasks they launched.

    `rows` (N,) are the rows of `slices` that are operators; `parent` (N,) is the index in `rows` of the enclosing
    operator, -1 at top level. `task_rows` (M,) are device tasks, `task_op` (M,) the index in `rows` of the operator
    that launched each, and `task_call` (M,) the row of `slices` of the host call that did; -1 where the source does
    not tell.
    """

    rows: I64
    parent: I64
    task_rows: I64
    task_op: I64
    task_call: I64
    task_ns: I64

    @property
    def device_ns(self) -> I64:
        """Summed duration of the tasks each operator launched itself, (N,)."""
        total = np.zeros(len(self.rows), np.int64)
        known = self.task_op >= 0
        np.add.at(total, self.task_op[known], self.task_ns[known])
        return total

    @property
    def device_total_ns(self) -> I64:
        """Summed duration of the tasks each operator and those inside it launched, (N,)."""
        total = np.zeros(len(self.rows), np.int64)
        at, duration = self.task_op, self.task_ns
        while (known := at >= 0).any():
            at, duration = at[known], duration[known]
            np.add.at(total, at, duration)
            at = self.parent[at]
        return total


@lru_cache(maxsize=8)
def calls_of(rank: RankStore) -> Calls:
    """The operators of a rank and what they launched."""
    is_op = rank.where("slices", "kind", "op")
    parent = rank.column("slices", "parent")
    rows = np.flatnonzero(is_op)
    near = nearest(parent, is_op)
    index = np.full(len(parent) + 1, -1, np.int64)  # the last element answers for row -1
    index[rows] = np.arange(len(rows))
    above = np.append(near, -1)[parent[rows]]
    tasks, callers, link = device_tasks(rank), _callers(rank), rank.column("slices", "link")
    op_row = _by_id(rank, tasks, is_op)
    missing = op_row < 0
    op_row[missing] = _by_link(rank, tasks[missing], callers, near)
    return Calls(
        rows=rows,
        parent=index[above],
        task_rows=tasks,
        task_op=index[op_row],
        task_call=_lookup(link[tasks], link[callers], callers),
        task_ns=rank.column("slices", "dur_ns")[tasks],
    )


@lru_cache(maxsize=8)
def device_tasks(rank: RankStore) -> I64:
    """Rows of `slices` that are work on a device: kernels, communication operators, copies and fills."""
    rows = rank.kind(*TASK_KINDS)
    return rows[on_side(rank, rows, "device")]


def on_side(rank: RankStore, rows: I64, side: str) -> Mask:
    """Whether each row of `slices` is on a host or on a device track, (N,)."""
    tracks = rank.column("lanes", "track")[rank.column("slices", "lane")[rows]]
    return np.asarray(rank.where("tracks", "side", side)[tracks], np.bool_)


def nearest(parent: npt.NDArray[Any], wanted: Mask) -> I64:
    """For every slice the innermost wanted slice around it (itself if wanted), -1 where there is none.

    Pointers to parents are doubled until all stand on a wanted slice or outside: log2(depth) passes.
    """
    outside = len(parent)
    up = np.where(wanted, np.arange(outside), np.where(parent < 0, outside, parent))
    up = np.append(up, outside)
    while not np.array_equal(further := up[up], up):
        up = further
    return np.where(up[:-1] == outside, -1, up[:-1])


def outermost(parent: I64, key: npt.NDArray[Any]) -> Mask:
    """Which nodes of a tree, (N,), have no ancestor with the same key: recursion counts once."""
    inside = np.zeros(len(parent), np.bool_)
    node = np.flatnonzero(parent >= 0)
    above = parent[node]
    while len(node):
        inside[node[key[above] == key[node]]] = True
        left = ~inside[node] & (parent[above] >= 0)
        node, above = node[left], parent[above[left]]
    return ~inside


@lru_cache(maxsize=32)
def slice_rows(rank: RankStore, table: str) -> I64:
    """For each row of a detail table the row of `slices` with the same event, -1 where there is none."""
    events = rank.column("slices", "event")
    wanted = rank.column(table, "event")
    top = max(int(events.max(initial=-1)), int(wanted.max(initial=-1)))
    row = np.full(top + 2, -1, np.int64)
    row[events] = np.arange(len(events))
    return np.asarray(row[wanted], np.int64)


@lru_cache(maxsize=32)
def detail_rows(rank: RankStore, table: str) -> I64:
    """For each row of `slices` the row of a detail table with the same event, -1 where there is none."""
    rows = slice_rows(rank, table)
    detail = np.full(rank.rows("slices") + 1, -1, np.int64)
    detail[rows] = np.arange(len(rows))
    return detail[:-1]


def detail(rank: RankStore, table: str, column: str, rows: npt.NDArray[Any], missing: int = -1) -> npt.NDArray[Any]:
    """A column of a detail table for rows of `slices`, `missing` where a slice has no details."""
    at = detail_rows(rank, table)[rows]
    return np.asarray(np.append(rank.column(table, column), missing)[at])


def _by_id(rank: RankStore, tasks: I64, is_op: Mask) -> I64:
    """Operator row of each task by the operator id it carries, -1 where it carries none that is known."""
    op_rows = slice_rows(rank, "ops")
    ids = rank.column("ops", "external_id")
    use = (ids >= 0) & (op_rows >= 0)
    use[use] = is_op[op_rows[use]]
    return _lookup(detail(rank, "kernels", "external_id", tasks), ids[use], op_rows[use])


def _callers(rank: RankStore) -> I64:
    """Host slices that share a link with something; the innermost of one link comes last."""
    linked = np.flatnonzero(rank.column("slices", "link") >= 0)
    return linked[on_side(rank, linked, "host")]


def _by_link(rank: RankStore, tasks: I64, callers: I64, near_op: I64) -> I64:
    """Operator row of each task through the host calls that share its link, -1 where none is inside an operator."""
    link = rank.column("slices", "link")
    inside = callers[near_op[callers] >= 0]
    found = _lookup(link[tasks], link[inside], near_op[inside])
    queue = nearest(rank.column("slices", "parent"), rank.where("slices", "kind", "queue") & (link >= 0))
    queued = callers[(near_op[callers] < 0) & (queue[callers] >= 0)]
    through = _lookup(link[queue[queued]], link[inside], near_op[inside])
    return np.where(found >= 0, found, _lookup(link[tasks], link[queued], through))


def _lookup(wanted: npt.NDArray[Any], keys: npt.NDArray[Any], values: I64) -> I64:
    """The value of the last equal key for each of `wanted` that is not negative, else -1."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    at = np.searchsorted(keys[order], wanted, side="right") - 1
    row = order[np.maximum(at, 0)]
    hit = (at >= 0) & (wanted >= 0) & (keys[row] == wanted)
    return np.where(hit, values[row], -1)
