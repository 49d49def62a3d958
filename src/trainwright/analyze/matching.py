"""Match collectives across ranks: which slices of different ranks are the same collective.

A collective is known by its job (see `trainwright.analyze.jobs`), its group and its number in the group. Where the
source counts no numbers, the collectives of one operator are numbered in order of start; where it names no groups, all
ranks of the job are one group. Several slices of one operator under one number (a coalesced call) are matched in order
of start. Transfers between two ranks are left out.

A rank waits from its own start to the start of the last rank, and the rest of its duration is transfer. Clocks of
different hosts are aligned by the ends of collectives (see `trainwright.analyze.clocks`), because all ranks leave them
together: with clocks apart, waiting comes down to own duration minus that of the last to arrive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainwright.analyze.clocks import clock_offsets
from trainwright.analyze.comm_ops import comm_ops, group_members
from trainwright.analyze.grouping import group_by
from trainwright.analyze.jobs import job_numbers
from trainwright.trace.collective_names import P2P_OPS
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]
Members = tuple[int, ...]

#: Operators that no rank can leave before all have arrived.
_RELEASES_ALL = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier")


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Collectives of all ranks, one row per collective and rank, (N,) each, collective by collective.

    `job` numbers the jobs, `number` the collectives. `group` and `op` are codes into `group_texts` and `op_texts`, -1
    for null. `rank` is the rank's number, `slice_row` the row of `slices` in it. `partners` is the number of ranks
    that share the collective; where it is 1 nothing is known about waiting, and `wait_ns`, `transfer_ns`, `last_rank`
    are -1. `offset_ns` is how far ahead of its group's the rank's clock was taken to be.
    """

    number: I64
    job: I64
    group: I64
    op: I64
    seq: I64
    size: I64
    rank: I64
    slice_row: I64
    start_ns: I64
    dur_ns: I64
    partners: I64
    wait_ns: I64
    transfer_ns: I64
    last_rank: I64
    offset_ns: I64
    group_texts: list[str]
    op_texts: list[str]


class _Codes:
    """Texts numbered over all ranks."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def of(self, texts: Sequence[str]) -> I64:
        """Code of each text and, last, -1 for null."""
        return np.array([*(self._codes.setdefault(text, len(self._codes)) for text in texts), -1], np.int64)

    @property
    def texts(self) -> list[str]:
        """The texts by code."""
        return list(self._codes)


def match_collectives(ranks: Sequence[RankStore]) -> Matched:
    """All collectives of a run, matched."""
    groups, ops = _Codes(), _Codes()
    members = _members_by_name(ranks)
    jobs = zip(ranks, job_numbers(ranks), strict=True)
    parts = [_rank_columns(rank, job, members, groups, ops) for rank, job in jobs]
    names = ("job", "group", "op", "seq", "occurrence", "counted", "size", "rank", "slice_row", "start_ns", "dur_ns")
    column = {name: np.concatenate([part[name] for part in parts] or [np.empty(0, np.int64)]) for name in names}
    by_key = group_by(
        column["job"], column["group"], column["counted"], column["seq"], column["op"], column["occurrence"]
    )
    known = {name: data[by_key.order] for name, data in column.items() if name not in ("occurrence", "counted")}
    known["number"] = by_key.number[by_key.order]
    known["offset_ns"] = _offsets(known, np.array([text in _RELEASES_ALL for text in [*ops.texts, None]], np.bool_))
    return Matched(**known, **_waits(known), group_texts=groups.texts, op_texts=ops.texts)


def _offsets(known: dict[str, I64], releases: npt.NDArray[np.bool_]) -> I64:
    """Clock offset of each row; zero for groups without a collective that releases all ranks at once."""
    use = np.flatnonzero(releases[known["op"]])
    end = known["start_ns"] + known["dur_ns"]
    group = group_by(known["job"], known["group"]).number
    found = clock_offsets(known["number"][use], group[use], known["rank"][use], end[use])
    by_rank = group_by(known["group"], known["rank"])
    offset = np.zeros(len(by_rank), np.int64)
    offset[by_rank.number[use]] = found
    return offset[by_rank.number]


def _waits(known: dict[str, I64]) -> dict[str, I64]:
    """Partners, waiting, transfer and the last to arrive for every row."""
    number, dur = known["number"], known["dur_ns"]
    arrival = known["start_ns"] - known["offset_ns"]
    collectives = group_by(number)
    latest_first = np.lexsort((known["rank"], -arrival, number))
    last = known["rank"][latest_first][collectives.first][number]
    partners = collectives.count[number]
    wait = np.minimum(collectives.max(arrival)[number] - arrival, dur)
    alone = partners < 2
    return {
        "partners": partners,
        "wait_ns": np.where(alone, -1, wait),
        "transfer_ns": np.where(alone, -1, dur - wait),
        "last_rank": np.where(alone, -1, last),
    }


def _rank_columns(
    rank: RankStore, job: int, members: dict[str, set[Members]], groups: _Codes, ops: _Codes
) -> dict[str, I64]:
    """The collectives of one rank in order of start, with codes that all ranks share."""
    found = comm_ops(rank)
    use = ~found.op.among(*P2P_OPS)
    names = [_identity(text, rank.rank, members) for text in found.group.texts]
    group = groups.of(names)[found.group.codes[use]]
    op = ops.of(found.op.texts)[found.op.codes[use]]
    recorded = found.seq[use] >= 0
    occurrence = group_by(group, op, np.where(recorded, found.seq[use], -1)).position()
    rows = found.rows[use]
    return {
        "job": np.full(len(rows), job, np.int64),
        "group": group,
        "op": op,
        "seq": np.where(recorded, found.seq[use], occurrence),
        "occurrence": np.where(recorded, occurrence, 0),
        "counted": recorded.astype(np.int64),
        "size": found.size[use],
        "rank": np.full(len(rows), rank.rank, np.int64),
        "slice_row": rows,
        "start_ns": rank.column("slices", "start_ns")[rows],
        "dur_ns": rank.column("slices", "dur_ns")[rows],
    }


def _members_by_name(ranks: Sequence[RankStore]) -> dict[str, set[Members]]:
    """All member lists that go by one group name: jobs may call every tensor-parallel group the same."""
    found: defaultdict[str, set[Members]] = defaultdict(set)
    for rank in ranks:
        for name, members in group_members(rank).items():
            found[name].add(members)
    return found


def _identity(name: str, rank: int, members: dict[str, set[Members]]) -> str:
    """The group's name, with its members where other groups have the same name."""
    mine = [ranks for ranks in members.get(name, ()) if rank in ranks]
    return f"{name} {list(mine[0])}" if len(members.get(name, ())) > 1 and len(mine) == 1 else name
