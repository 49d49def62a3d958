"""Communication operators with group, size and the links they used: the ground of the communication tables."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from trainwright.analyze.calls import calls_of, detail, nearest, slice_rows
from trainwright.analyze.grouping import group_by
from trainwright.analyze.text_columns import TextColumn, first_known, stored_text
from trainwright.trace.collective_names import P2P_OPS, parse_collective
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

#: Factor by which the bus carries more than the message, by operator, for n ranks: ``a * (n - 1) / n`` gives `a`.
#: NCCL-tests, PERFORMANCE.md. Operators that are not here move the message once: factor 1.
_RING_FACTOR = {"allreduce": 2, "allgather": 1, "reducescatter": 1, "alltoall": 1, "gather": 1, "scatter": 1}
#: Host ranges around the calls into a communication library; the rest of the name says which operator.
LIBRARY_RANGES = ("nccl:", "rccl:", "hccl:", "gloo:", "mpi:")
#: Rank numbers from here on are damage, not ranks.
_MAX_RANK = 2**31
#: Operators that say how data moves, not what for: an all-to-all is made of them, and so is a pipeline transfer.
_MECHANISM = ("sendrecv", None)


@dataclass(frozen=True, kw_only=True)
class CommOps:
    """Communication operators of a rank, (N,) each, in order of start; -1 in `seq`, `size` and `group_size`: unknown.

    `size` is bytes. `op` is the operator the caller asked for where the device only shows sends and receives; null
    where nothing tells.
    """

    rows: I64
    group: TextColumn
    op: TextColumn
    seq: I64
    size: I64
    group_size: I64


@lru_cache(maxsize=64)
def comm_ops(rank: RankStore) -> CommOps:
    """The communication operators of a rank."""
    rows = rank.kind("comm")
    rows = rows[np.argsort(rank.column("slices", "start_ns")[rows], kind="stable")]

    def column(name: str) -> I64:
        return np.asarray(detail(rank, "collectives", name, rows), np.int64)

    group = stored_text(rank, "collectives", "group", rows)
    named = np.array([*(_group_size(rank, text) for text in group.texts), -1], np.int64)
    recorded = column("group_size")
    return CommOps(
        rows=rows,
        group=group,
        op=_operators(rank, rows),
        seq=column("seq"),
        size=column("bytes"),
        group_size=np.where(recorded > 0, recorded, named[group.codes]),
    )


def _operators(rank: RankStore, rows: I64) -> TextColumn:
    """The operator of each communication slice: asked of the host range around its launch where the name is vague."""
    written = stored_text(rank, "collectives", "op", rows)
    vague = written.among(*_MECHANISM)
    if not vague.any():
        return written
    calls = calls_of(rank)
    call = np.full(rank.rows("slices"), -1, np.int64)
    call[calls.task_rows] = calls.task_call
    names = rank.texts("slices", "name")
    asked = np.array([name.startswith(LIBRARY_RANGES) for name in names], np.bool_)
    host_range = nearest(rank.column("slices", "parent"), asked[rank.column("slices", "name")])
    found = np.append(host_range, -1)[np.where(vague, call[rows], -1)]
    codes = np.where(found >= 0, rank.column("slices", "name")[found], -1)
    ops = [parse_collective(name).op if ranged else "" for name, ranged in zip(names, asked, strict=True)]
    usable = np.array([bool(op) for op in ops] + [False], np.bool_)
    asked_for = TextColumn(codes=np.where(usable[codes], codes, -1), texts=ops)
    resolved = first_known(asked_for, written)
    purpose_unknown = _unexplained(written.among("sendrecv"), asked_for)
    return TextColumn(codes=np.where(purpose_unknown, -1, resolved.codes), texts=resolved.texts)


def _unexplained(moves: npt.NDArray[np.bool_], asked_for: TextColumn) -> npt.NDArray[np.bool_]:
    """Which slices say nothing about their purpose: those that only `moves` data and whose host call is not recorded.

    The name alone would say a transfer between two ranks; where all others of that name serve collectives, it lies.
    """
    told = moves & (asked_for.codes >= 0)
    if not told.any() or (told & asked_for.among(*P2P_OPS)).any():
        return np.zeros(len(moves), np.bool_)
    return moves & (asked_for.codes < 0)


@lru_cache(maxsize=64)
def group_members(rank: RankStore) -> dict[str, tuple[int, ...]]:
    """Global ranks of every group whose members the rank's source lists."""
    members = {}
    for row in rank.table("groups").to_pylist():
        ranks = json.loads(row["ranks"]) if row["ranks"] else None
        if isinstance(ranks, list) and all(isinstance(number, int) and 0 <= number < _MAX_RANK for number in ranks):
            members[str(row["group"])] = tuple(ranks)
    return members


def _group_size(rank: RankStore, group: str) -> int:
    """Ranks in a group by its name, -1 when the source does not say."""
    if group in group_members(rank):
        return len(group_members(rank)[group])
    at = np.flatnonzero(rank.where("groups", "group", group))
    return int(rank.column("groups", "size")[at[0]]) if len(at) else -1


def bus_factor(op: str | None, ranks: int) -> float | None:
    """Bus bandwidth over algorithm bandwidth for an operator over `ranks` ranks; None where it is not known.

    After NCCL-tests (PERFORMANCE.md): the message of an all-gather or reduce-scatter is the full buffer.
    """
    if op is None:
        return None
    if op not in _RING_FACTOR:
        return 1.0
    return _RING_FACTOR[op] * (ranks - 1) / ranks if ranks > 0 else None


def transports(rank: RankStore, ops: CommOps) -> list[str | None]:
    """Transports of the tasks inside each operator, most bytes first, joined by ``, ``; null where none is known.

    A task is inside the operator of its group that is running when the task starts.
    """
    owner = _owners(rank, ops)
    kinds = rank.column("links", "transport")
    use = np.flatnonzero((owner >= 0) & (kinds >= 0))
    groups = group_by(owner[use], kinds[use])
    carried = groups.sum(np.maximum(rank.column("links", "bytes")[use], 0))
    found: defaultdict[int, list[str]] = defaultdict(list)
    texts = rank.texts("links", "transport")
    for at in np.argsort(-carried, kind="stable"):
        found[int(groups.key(owner[use])[at])].append(texts[groups.key(kinds[use])[at]])
    return [", ".join(found[at]) if at in found else None for at in range(len(ops.rows))]


def _owners(rank: RankStore, ops: CommOps) -> I64:
    """Index of the operator that each row of `links` is part of, -1 where there is none."""
    tasks = slice_rows(rank, "links")
    start = np.append(rank.column("slices", "start_ns"), 0)
    end = start + np.append(rank.column("slices", "dur_ns"), 0)
    owner = np.full(len(tasks), -1, np.int64)
    groups = rank.column("links", "group")
    for code, text in [*enumerate(rank.texts("links", "group")), (-1, None)]:
        mine = np.flatnonzero((groups == code) & (tasks >= 0))
        candidates = np.flatnonzero(ops.group.among(text))
        if len(mine) and len(candidates):
            at = np.searchsorted(start[ops.rows[candidates]], start[tasks[mine]], side="right") - 1
            found = candidates[np.maximum(at, 0)]
            inside = (at >= 0) & (start[tasks[mine]] <= end[ops.rows[found]])
            owner[mine[inside]] = found[inside]
    return owner
