"""Which part of the model an operator belongs to.

The first of these that the rank records is used: the module path the profiler wrote beside each operator; the Python
calls named ``nn.Module: Linear_3``, whose nesting gives the path; the ranges that the user or the framework marked.
Backward operators run outside all of them, often on another thread: autograd's sequence number leads from a backward
operator to the forward operator it differentiates, and so to its module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trainwright.analyze.calls import Calls, calls_of, detail, nearest, on_side, outermost
from trainwright.analyze.comm_ops import LIBRARY_RANGES
from trainwright.analyze.fields import texts_at
from trainwright.analyze.grouping import group_by
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

PYTHON_MODULE = "nn.Module: "

Origin = Literal["module path", "python", "annotation", "none"]


@dataclass(frozen=True, kw_only=True)
class Modules:
    """Modules of a rank and the operators in them; everything is empty when `origin` is ``none``.

    `paths` (P,) are the distinct module paths, parts joined by ``/``. A *visit* is one call of a module: `visit_path`
    (V,) is its path, `visit_total_ns` its host time, `visit_self_ns` that without the modules inside it, and
    `visit_outer` is false inside a visit of the same path. `task_path` (M,) is the path of each device task of `Calls`
    by the nesting of its launch, -1 for none. `op_backward_path` (N,) and `task_backward_path` (M,) are the paths of
    operators and tasks outside all visits, by the forward operator that they differentiate.
    """

    origin: Origin
    paths: list[str]
    visit_path: I64
    visit_total_ns: I64
    visit_self_ns: I64
    visit_outer: npt.NDArray[np.bool_]
    op_backward_path: I64
    task_path: I64
    task_backward_path: I64


@lru_cache(maxsize=8)
def modules_of(rank: RankStore) -> Modules:
    """The modules of a rank."""
    calls = calls_of(rank)
    if len(rank.texts("ops", "module")):
        return _from_operators(rank, calls)
    python = np.array([text.startswith(PYTHON_MODULE) for text in rank.texts("slices", "name")], np.bool_)
    visits = rank.kind("python")
    visits = visits[python[rank.column("slices", "name")[visits]]]
    if len(visits):
        return _from_slices(rank, calls, visits, "python")
    visits = _annotations(rank)
    return _from_slices(rank, calls, visits, "annotation" if len(visits) else "none")


def _annotations(rank: RankStore) -> I64:
    """Ranges marked on the host, without those a communication library draws around its calls."""
    visits = rank.kind("annotation")
    visits = visits[on_side(rank, visits, "host")]
    library = np.array([text.startswith(LIBRARY_RANGES) for text in rank.texts("slices", "name")], np.bool_)
    return np.asarray(visits[~library[rank.column("slices", "name")[visits]]], np.int64)


def _from_operators(rank: RankStore, calls: Calls) -> Modules:
    """Every operator with a module path that is not inside another of the same path is a visit."""
    own = np.asarray(detail(rank, "ops", "module", calls.rows), np.int64)
    known = own >= 0
    source = nearest(calls.parent, known)
    path = np.append(own, -1)[source]
    inside = np.where(calls.parent >= 0, path[calls.parent], -1)
    backward = _backward(rank, calls, path)
    visit = (path >= 0) & (path != inside)
    dur = rank.column("slices", "dur_ns")[calls.rows]
    return Modules(
        origin="module path",
        paths=rank.texts("ops", "module"),
        visit_path=path[visit],
        visit_total_ns=dur[visit],
        visit_self_ns=_self_time(dur, calls.parent, visit),
        visit_outer=outermost(calls.parent, path)[visit],
        op_backward_path=backward,
        task_path=np.append(path, -1)[calls.task_op],
        task_backward_path=np.append(backward, -1)[calls.task_op],
    )


def _from_slices(rank: RankStore, calls: Calls, visits: I64, origin: Origin) -> Modules:
    """Visits are slices; their nesting gives the path."""
    parent = rank.column("slices", "parent")
    is_visit = np.zeros(len(parent), np.bool_)
    is_visit[visits] = True
    near = nearest(parent, is_visit)
    index = np.full(len(parent) + 1, -1, np.int64)  # the last element answers for row -1
    index[visits] = np.arange(len(visits))
    above = index[np.append(near, -1)[parent[visits]]]
    path, paths = _paths(rank, visits, above)
    dur = rank.column("slices", "dur_ns")[visits]
    path_around = np.append(path, -1)[index[np.append(near, -1)]]  # by row of `slices`; the last answers for row -1
    op_path = path_around[calls.rows]
    backward = _backward(rank, calls, op_path)
    alone = path_around[np.where(calls.task_op < 0, calls.task_call, -1)]
    return Modules(
        origin=origin,
        paths=paths,
        visit_path=path,
        visit_total_ns=dur,
        visit_self_ns=_self_time(dur, above, np.ones(len(visits), np.bool_)),
        visit_outer=outermost(above, path),
        op_backward_path=backward,
        task_path=np.where(calls.task_op < 0, alone, np.append(op_path, -1)[calls.task_op]),
        task_backward_path=np.append(backward, -1)[calls.task_op],
    )


def _paths(rank: RankStore, visits: I64, above: I64) -> tuple[I64, list[str]]:
    """Number of the path of each visit, (V,), and the paths: one round per level of nesting."""
    names = rank.column("slices", "name")[visits]
    texts = [text.removeprefix(PYTHON_MODULE) for text in rank.texts("slices", "name")]
    path = np.full(len(visits), -1, np.int64)
    paths: list[str] = []
    level = np.flatnonzero(above < 0)
    while len(level):
        outer = np.where(above[level] >= 0, path[above[level]], -1)
        groups = group_by(outer, names[level])
        path[level] = groups.number + len(paths)
        prefixes = texts_at(paths, groups.key(outer))
        leaves = texts_at(texts, groups.key(names[level]))
        paths.extend(f"{prefix}/{leaf}" if prefix else str(leaf) for prefix, leaf in zip(prefixes, leaves, strict=True))
        ready = (path < 0) & (above >= 0)
        ready[ready] = path[above[ready]] >= 0
        level = np.flatnonzero(ready)
    return path, paths


def _self_time(dur: I64, above: I64, visit: npt.NDArray[np.bool_]) -> I64:
    """Duration of the visits of a tree without that of the visits next inside them, (visits,)."""
    own = dur.copy()
    enclosing = np.where(above >= 0, nearest(above, visit)[above], -1)
    child = np.flatnonzero(visit & (enclosing >= 0))
    np.subtract.at(own, enclosing[child], dur[child])
    return own[visit]


def _backward(rank: RankStore, calls: Calls, op_path: I64) -> I64:
    """Path of the forward operator of each operator that has no path itself and belongs to a backward pass, else -1."""
    sequence = detail(rank, "ops", "sequence", calls.rows)
    backward = (sequence >= 0) & (detail(rank, "ops", "fwd_thread", calls.rows, missing=0) > 0)
    source = nearest(calls.parent, backward)
    forward = np.flatnonzero((sequence >= 0) & (source < 0))
    if not len(forward):
        return np.full(len(op_path), -1, np.int64)
    # the latest start among operators of one number: outer operators carry the number of what they will call
    start = rank.column("slices", "start_ns")[calls.rows[forward]]
    forward = forward[np.lexsort((start, sequence[forward]))]
    wanted: npt.NDArray[Any] = np.append(sequence, -1)[source]
    at = np.maximum(np.searchsorted(sequence[forward], wanted, side="right") - 1, 0)
    hit = (wanted >= 0) & (sequence[forward][at] == wanted) & (op_path < 0)
    return np.where(hit, op_path[forward[at]], -1)
