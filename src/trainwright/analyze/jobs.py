"""Which ranks ran together: recordings of several jobs may be read at once, and their collectives have no relation.

Two recordings are not of one job when both say they are the same rank, or when the times they cover lie further apart
than clocks of hosts do. Ranks below one folder belong together before ranks of its neighbours do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainwright.core.text import number_ranges
from trainwright.trace.store import RankStore

#: Clocks of hosts that train together are less than this apart, ns.
CLOCKS_APART_NS = 10 * 10**9
#: Times from here on (2001) count from the epoch; smaller ones from the start of some device, so they do not compare.
EPOCH_FROM_NS = 10**18


@dataclass(kw_only=True)
class _Job:
    """Ranks that may have run together: their indices, the numbers they claim, and the time they cover, ns."""

    members: list[int]
    claims: set[int]
    start_ns: int
    end_ns: int

    def admits(self, other: _Job) -> bool:
        """Whether both can be parts of one job."""
        return self.claims.isdisjoint(other.claims) and self._meets(other)

    def take(self, other: _Job) -> None:
        """Add the ranks of another part."""
        self.members = sorted([*self.members, *other.members])
        self.claims |= other.claims
        self.start_ns, self.end_ns = min(self.start_ns, other.start_ns), max(self.end_ns, other.end_ns)

    def _meets(self, other: _Job) -> bool:
        if min(self.start_ns, other.start_ns) < EPOCH_FROM_NS:
            return True
        apart = max(self.start_ns, other.start_ns) - min(self.end_ns, other.end_ns)
        return apart <= CLOCKS_APART_NS


def job_numbers(ranks: Sequence[RankStore]) -> list[int]:
    """The job of each rank, numbered from 0 in order of their first ranks."""
    waiting: dict[Path, list[_Job]] = {}
    for at, rank in enumerate(ranks):
        job = _Job(members=[at], claims={rank.unit.claimed}, start_ns=rank.start_ns, end_ns=rank.end_ns)
        waiting.setdefault(rank.unit.path.absolute().parent, []).append(job)
    while len(waiting) > 1 or any(folder != folder.parent for folder in waiting):
        folder = max(waiting, key=lambda path: len(path.parts))
        jobs = _together(waiting.pop(folder))
        waiting.setdefault(folder.parent, []).extend(jobs)
    number = [0] * len(ranks)
    for at, job in enumerate(_together(job for jobs in waiting.values() for job in jobs)):
        for member in job.members:
            number[member] = at
    return number


def describe_jobs(ranks: Sequence[RankStore], numbers: Sequence[int]) -> str:
    """``ranks 0-3, ranks 4-7``: the ranks of each job."""
    members: dict[int, list[int]] = {}
    for rank, number in zip(ranks, numbers, strict=True):
        members.setdefault(number, []).append(rank.rank)
    return "; ".join(f"{'ranks' if len(job) > 1 else 'rank'} {number_ranges(job)}" for job in members.values())


def _together(parts: Iterable[_Job]) -> list[_Job]:
    """Parts of jobs put together: each goes to the first job that admits it, in order of their first ranks."""
    jobs: list[_Job] = []
    for part in sorted(parts, key=lambda job: job.members[0]):
        home = next((job for job in jobs if job.admits(part)), None)
        if home is None:
            jobs.append(part)
        else:
            home.take(part)
    return jobs
