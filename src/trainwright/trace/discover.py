"""Walk the user's input, let the readers recognise ranks, and give every rank its number.

The rank number comes from the best of: the name of a file that carries it, metadata, a rank-to-device map, a
database name, the content of the trace; what is left is numbered in path order. Nothing is overwritten: when two
sources claim one number, the later gets the next free number and the quality table says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from trainwright.core.errors import InputError, NotAProfileError
from trainwright.core.result import Quality
from trainwright.core.settings import max_input_bytes
from trainwright.core.text import number_ranges
from trainwright.trace.reader import PARTS, READERS, Folder, RankSource, Reader, Refusal

#: Deepest folder nesting that is walked below an input; real layouts need 6.
MAX_FOLDER_DEPTH = 24
#: Most files looked at below one input.
MAX_FILES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class RankUnit:
    """One rank to ingest: its number and the sources that together describe it."""

    rank: int
    parts: tuple[RankSource, ...]

    @property
    def is_summary(self) -> bool:
        """Whether this only summarises other ranks (cluster output): there for SQL, with a negative number."""
        return all(part.options.get("role") == "cluster" for part in self.parts)

    @property
    def claimed(self) -> int:
        """The rank that the sources say they are; `rank` is another number where an earlier source says the same."""
        return next((part.rank for part in self.parts if part.rank is not None and part.rank >= 0), self.rank)

    @property
    def path(self) -> Path:
        """The folder or file shown to the user."""
        return self.parts[0].path


@dataclass(kw_only=True)
class Discovery:
    """Everything recognised below the input."""

    units: list[RankUnit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)


def discover(paths: Sequence[Path]) -> Discovery:
    """The ranks below `paths`, numbered.

    Raises:
        InputError: a path does not exist.
        NotAProfileError: nothing below the paths is a profile; the message lists what was refused and why.
    """
    max_input_bytes()  # a setting that cannot be read is no fault of the files
    readers = sorted(READERS, key=lambda reader: (reader.priority, reader.code))
    sources: list[RankSource] = []
    found = Discovery()
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist", todo="check the path")
        _walk(path, partial(_ask, readers, sources=sources, found=found), found.quality)
    if not sources:
        raise _nothing(paths, found.refusals)
    found.units = _number(_join(_unique(sources, found.quality)), found.quality)
    return found


def _unique(sources: Iterable[RankSource], quality: list[Quality]) -> list[RankSource]:
    """Sources without those that an overlapping input or a link gave a second time; links are reported."""
    seen: dict[tuple[object, ...], RankSource] = {}
    for source in sources:
        # one file may hold several ranks, told apart by options
        files = tuple(path.resolve() for path in source.files)
        first = seen.setdefault((source.reader, files, tuple(sorted(source.options.items()))), source)
        if _spelled(first.path) != _spelled(source.path):
            quality.append(_linked_twice(source.path, first.path))
    return list(seen.values())


def _spelled(path: Path) -> str:
    """The path from the root, links in it as they are."""
    return os.path.normpath(path.absolute())


def _linked_twice(link: Path, known: Path) -> Quality:
    return Quality(code="linked-twice", count=1, example=f"the same as {known}: read once", file=str(link))


def _walk(path: Path, ask: Callable[[Folder], set[Path]], quality: list[Quality]) -> None:
    """Call `ask` with the folder of `path` (or a file by itself) and all below, parents first, in name order.

    `ask` answers with the entries that need no further look. Links to folders are followed; a loop ends because a
    real path is visited once.
    """
    if path.is_file():
        ask(Folder(path=path.parent, files=(path,), folders=()))
        return
    stack = [(path, 0)]
    visited: dict[Path, Path] = {}
    files_seen = 0
    while stack:
        here, depth = stack.pop()
        real = here.resolve()
        if real in visited:
            quality.append(_linked_twice(here, visited[real]))
            continue
        if depth > MAX_FOLDER_DEPTH:
            continue
        visited[real] = here
        try:
            entries = sorted(here.iterdir(), key=lambda entry: _natural(entry.name))
        except OSError:
            continue
        folder = Folder(
            path=here,
            files=tuple(entry for entry in entries if entry.is_file()),
            folders=tuple(entry for entry in entries if entry.is_dir()),
        )
        files_seen += len(folder.files)
        if files_seen > MAX_FILES:
            raise InputError(
                f"{path} holds more than {MAX_FILES:,} files", todo="point at the folder of the profiles themselves"
            )
        covered = ask(folder)
        stack.extend((child, depth + 1) for child in reversed(folder.folders) if child not in covered)


def _ask(readers: Sequence[Reader], folder: Folder, sources: list[RankSource], found: Discovery) -> set[Path]:
    """Let the readers recognise what they know in `folder`; the entries they cover."""
    covered: set[Path] = set()
    for reader in readers:
        rest = Folder(
            path=folder.path,
            files=tuple(path for path in folder.files if path not in covered),
            folders=tuple(path for path in folder.folders if path not in covered),
        )
        answer = reader.find(rest)
        sources.extend(answer.sources)
        found.refusals.extend(answer.refusals)
        for source in answer.sources:
            covered.update(source.covers or source.files)
        covered.update(refusal.path for refusal in answer.refusals)
    return covered


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts ``rank10`` after ``rank2``."""
    key: list[tuple[int, int, str]] = []
    digits = ""
    for char in name + "\0":
        if char.isdecimal() and char.isascii():
            digits += char
            continue
        if digits:
            key.append((0, int(digits), ""))
            digits = ""
        key.append((1, 0, char))
    return tuple(key)


def _join(sources: Sequence[RankSource]) -> list[tuple[RankSource, ...]]:
    """Sources of one path become one rank; each part is filled by the source that offers it best."""
    by_path: dict[Path, list[RankSource]] = {}
    for source in sources:
        by_path.setdefault(source.path, []).append(source)
    joined: list[tuple[RankSource, ...]] = []
    for group in by_path.values():
        if len({source.reader for source in group}) < len(group):  # two of one format are two ranks
            joined.extend((source,) for source in group)
            continue
        if len(group) > 1:
            group = _share_parts(group)  # noqa: PLW2901
        joined.append(tuple(group))
    return joined


def _share_parts(group: Sequence[RankSource]) -> list[RankSource]:
    takes: list[set[str]] = [set() for _ in group]
    for part in PARTS:
        offers = [source.offers.get(part, 0) for source in group]
        takes[offers.index(max(offers))].add(part)
    for mine in takes:
        mine.add("reported")  # tables of the source are kept from every form
    return [replace(source, takes=frozenset(mine)) for source, mine in zip(group, takes, strict=True)]


def _number(groups: Sequence[tuple[RankSource, ...]], quality: list[Quality]) -> list[RankUnit]:
    """Rank numbers: claimed ones first, then the rest in order; report duplicates and gaps."""
    units: list[RankUnit] = []
    taken: set[int] = set()
    unclaimed: list[tuple[RankSource, ...]] = []
    duplicates: list[tuple[RankSource, ...]] = []
    summaries = [group for group in groups if RankUnit(rank=-1, parts=group).is_summary]
    groups = [group for group in groups if group not in summaries]
    for group in groups:
        claim = next((source.rank for source in group if source.rank is not None and source.rank >= 0), None)
        if claim is None:
            unclaimed.append(group)
        elif claim in taken:
            duplicates.append(group)
        else:
            taken.add(claim)
            units.append(RankUnit(rank=claim, parts=group))
    highest = max(taken, default=-1)
    for group in duplicates:
        highest += 1
        claimed = next(source.rank for source in group if source.rank is not None)
        quality.append(
            Quality(
                code="duplicate-rank",
                count=1,
                example=f"also claims rank {claimed}; kept as rank {highest}",
                file=str(group[0].path),
            )
        )
        units.append(RankUnit(rank=highest, parts=tuple(replace(part, rank_origin="duplicate") for part in group)))
    gap_limit = max(taken, default=-1)
    missing = [rank for rank in range(gap_limit + 1) if rank not in taken]
    for group in unclaimed:
        highest += 1
        if len(groups) > 1:
            quality.append(
                Quality(
                    code="rank-not-given",
                    count=1,
                    example=f"no rank in name or content; numbered {highest} by order",
                    file=str(group[0].path),
                )
            )
        units.append(RankUnit(rank=highest, parts=group))
    if missing and len(units) > 1:
        quality.append(Quality(code="rank-gap", count=len(missing), example="missing ranks: " + number_ranges(missing)))
    units.sort(key=lambda unit: unit.rank)
    return units + [RankUnit(rank=-1 - at, parts=group) for at, group in enumerate(summaries)]


def _nothing(paths: Sequence[Path], refusals: Sequence[Refusal]) -> NotAProfileError:
    shown = ", ".join(str(path) for path in paths)
    spoken = {refusal.path for refusal in refusals}
    unknown = [
        Refusal(path=path, reason="the file is empty" if not path.stat().st_size else "no known format")
        for path in paths
        if path.is_file() and path not in spoken
    ]
    why = "".join(f"\n  {refusal.path}: {refusal.reason}" for refusal in [*refusals, *unknown][:10])
    known = "; ".join(reader.summary.rstrip(".") for reader in sorted(READERS, key=lambda leaf: leaf.priority))
    return NotAProfileError(
        f"no profile found in {shown}{why}",
        allowed=known,
        todo="point at the folder that the profiler wrote, or at one trace file",
    )
