"""Communication groups of an Ascend run: their ids, names and members, from whatever files say them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trainwright.trace.ascend_names import group_id, match_group, parse_hcom
from trainwright.trace.reader import Sink

#: Digits of the ids that operators carry; a shorter name is the name of a group, not its id.
_ID_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Group:
    """What the run is told to use a group for, and its global ranks (empty when unknown)."""

    name: str
    ranks: tuple[int, ...]


@dataclass(kw_only=True)
class Groups:
    """The groups known so far, by id."""

    known: dict[str, Group] = field(default_factory=dict)

    def learn(self, metadata: object) -> None:
        """Take the groups of ``parallel_group_info``: ``{comm name: {group_name, global_ranks}}``."""
        info = metadata.get("parallel_group_info") if isinstance(metadata, dict) else None
        for comm_name, group in info.items() if isinstance(info, dict) else ():
            if isinstance(group, dict):
                name = str(group.get("group_name") or "")
                self.known[group_key(comm_name)] = Group(name=name, ranks=_ranks(group.get("global_ranks")))

    def learn_operators(self, names: Iterable[str]) -> None:
        """Take the ids that operator names carry, such as ``hcom_allReduce__586_0_1@10471851537367425586``."""
        for name in names:
            if group := parse_hcom(name).group:
                self.known.setdefault(group, Group(name="", ranks=()))

    def of(self, suffix: str) -> str:
        """The id of the group whose operators carry `suffix` in their names."""
        return match_group(suffix, self.known)

    def size(self, group: str) -> int:
        """Number of ranks in a group, -1 when unknown."""
        return len(self.known[group].ranks) if group in self.known and self.known[group].ranks else -1

    def pour(self, sink: Sink) -> None:
        """Pour the groups that have a name or members."""
        rows = [(key, group) for key, group in self.known.items() if group.name or group.ranks]
        if rows:
            sink.add(
                "groups",
                group=[key for key, _ in rows],
                name=[group.name or None for _, group in rows],
                size=[len(group.ranks) or -1 for _, group in rows],
                ranks=[json.dumps(group.ranks) if group.ranks else None for _, group in rows],
            )


def group_key(comm_name: str) -> str:
    """The id of a group by its name; an id stays as it is."""
    return comm_name if comm_name.isdecimal() and len(comm_name) >= _ID_DIGITS else group_id(comm_name)


def _ranks(values: Any) -> tuple[int, ...]:
    """A list of ranks; empty when it is anything else."""
    if isinstance(values, list) and all(type(value) is int and 0 <= value < 2**31 for value in values):
        return tuple(values)
    return ()
