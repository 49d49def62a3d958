"""Find the rank in the name of a file, the way training scripts and profilers write it."""

from __future__ import annotations

import re
from pathlib import Path

from trainwright.trace.reader import RankOrigin

#: ``rank3``, ``worker_12``, ``et-0`` anywhere, or ``r7`` between separators; over nine digits are a time or an id.
_RANK = re.compile(
    r"(?:rank|worker|(?<![a-z])et)[-_. ]?(\d{1,9})(?!\d)|(?:^|[-_.])r(\d{1,9})(?=[-_.]|$)", re.IGNORECASE
)


def rank_in_name(path: Path) -> tuple[int | None, RankOrigin]:
    """Rank in a file name such as ``rank3_trace_view.json.gz`` and its origin; (None, "order") where there is none."""
    found = _RANK.search(path.name)
    return (int(found.group(1) or found.group(2)), "file name") if found else (None, "order")
