"""What is left to do, as time: an estimate per file and for the whole, in minutes, hours or days.

A person who has solved a thing once solves it again faster: the first of a kind in a project costs what the rule says,
each further one a quarter. Edits that wait for ``--unsafe`` cost a look each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from trainwright.migrate.remark import Remark

#: Minutes of a remark whose rule gives none.
DEFAULT_MINUTES: Mapping[str, int] = {"manual": 15, "blocked": 120}
LOOK_MINUTES = 2
_AGAIN = 4
_HOUR = 60
_DAY = 8 * _HOUR

Effort = Literal["none", "minutes", "hours", "days"]


def minutes_by_file(remarks: Iterable[tuple[str, Remark]]) -> dict[str, int]:
    """Minutes of work per file; `remarks` are (file, remark) in report order."""
    seen: set[tuple[str, str]] = set()
    total: dict[str, float] = {}
    for file, remark in remarks:
        cost: float = _cost(remark)
        if not cost:
            continue
        kind = (remark.number, remark.name or remark.title)
        if kind in seen and cost > LOOK_MINUTES:
            cost = max(cost / _AGAIN, LOOK_MINUTES)
        seen.add(kind)
        total[file] = total.get(file, 0) + cost
    return {file: round(minutes) for file, minutes in total.items()}


def effort_of(minutes: int) -> Effort:
    """The size of the work: up to an hour, up to a working day, or more."""
    if not minutes:
        return "none"
    return "minutes" if minutes <= _HOUR else "hours" if minutes <= _DAY else "days"


def spoken(minutes: int) -> str:
    """A time for people, rounded as an estimate deserves: ``about 3 hours``."""
    if not minutes:
        return "nothing"
    if minutes <= _HOUR:
        return f"about {minutes} {_plural(minutes, 'minute')}"
    size, word = (_HOUR, "hour") if minutes <= _DAY else (_DAY, "day")
    count = max(round(minutes / size), 1)
    return f"about {count:,} {_plural(count, word)}"


def _cost(remark: Remark) -> int:
    if remark.outcome == "note":
        return 0
    if remark.outcome == "replaced":
        return LOOK_MINUTES if remark.safety == "unsafe" else 0
    return remark.minutes or DEFAULT_MINUTES[remark.outcome]


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
