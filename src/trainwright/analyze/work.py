"""Which slices of a rank are work, and of which sort: the ground that all time accounting stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from trainwright.analyze.calls import on_side
from trainwright.analyze.comm_ops import comm_ops
from trainwright.analyze.intervals import Spans, union
from trainwright.analyze.steps import StepWindow, step_windows
from trainwright.trace.collective_names import P2P_OPS
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

#: Host operators that only hand work to a communication library.
_COMM_OPERATORS = ("c10d::", "record_param_comms", "nccl:", "hccl:")


@dataclass(frozen=True, kw_only=True)
class Work:
    """Rows of `slices` by sort, each sorted by start, and the steps they fall in; `tasks` are `compute` and `comm`.

    `on_device` is False for a run that shows no device: then operators on the host are the computation.
    """

    compute: I64
    comm: I64
    tasks: I64
    p2p: I64
    copy: I64
    on_device: bool
    windows: list[StepWindow]


@lru_cache(maxsize=8)
def work_of(rank: RankStore) -> Work:
    """The work of a rank."""
    start = rank.column("slices", "start_ns")

    def by_start(rows: I64) -> I64:
        rows = rank.in_span(rows)
        return rows[np.argsort(start[rows], kind="stable")]

    comm = by_start(rank.kind("comm"))
    compute = by_start(rank.kind("kernel"))
    copy = by_start(rank.kind("memcpy", "memset"))
    on_device = bool(len(compute) or len(copy)) or bool(on_side(rank, comm, "device").any())
    if not on_device:
        compute = by_start(_host_operators(rank))
    tasks = by_start(np.concatenate([compute, comm]))
    return Work(
        compute=compute,
        comm=comm,
        tasks=tasks,
        p2p=_p2p(rank),
        copy=copy,
        on_device=on_device,
        windows=step_windows(rank, tasks),
    )


def spans_of(rank: RankStore, rows: I64) -> Spans:
    """The union of some slices."""
    start = rank.column("slices", "start_ns")[rows]
    return union(start, start + rank.column("slices", "dur_ns")[rows])


def started_in(rank: RankStore, rows: I64, windows: Sequence[StepWindow]) -> I64:
    """How many of `rows` (sorted by start) start in each window, (windows,)."""
    borders = np.array([(window.start_ns, window.end_ns) for window in windows], np.int64).reshape(-1, 2)
    return np.asarray(np.diff(np.searchsorted(rank.column("slices", "start_ns")[rows], borders)).ravel(), np.int64)


def _host_operators(rank: RankStore) -> I64:
    """Operators that compute on the host: all but those that only hand over to a communication library."""
    rows = rank.kind("op")
    texts = rank.texts("slices", "name")
    computes = np.array([not text.startswith(_COMM_OPERATORS) for text in texts], np.bool_)
    return np.asarray(rows[computes[rank.column("slices", "name")[rows]]])


def _p2p(rank: RankStore) -> I64:
    """The communication rows that are transfers between two ranks.

    An all-to-all made of sends and receives is none: the operator the caller asked for decides.
    """
    ops = comm_ops(rank)
    return rank.in_span(ops.rows[ops.op.among(*P2P_OPS)])
