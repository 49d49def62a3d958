"""What a scan gives: every file that was read, with its remarks and where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from trainwright.core.result import Quality
from trainwright.migrate.choose import chosen
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.remark import Edit, Remark

#: An edit by lines and columns from 1, columns in characters; the end is the first character not replaced.
Region = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a remark is in its file.

    Args:
        region: of the bytes in question.
        before: the lines around it as they are.
        after: the same lines with the edits of the remark; None when it has none among them.
        edits: the region of every edit of the remark, in its order.
    """

    region: Region
    before: str
    after: str | None
    edits: tuple[Region, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FileScan:
    """One file. `places` run beside `remarks`; `suppressed` remarks were silenced by comments or not selected."""

    path: str
    language: str
    lines: int
    remarks: tuple[Remark, ...]
    places: tuple[Place, ...]
    size_bytes: int
    sha: str
    suppressed: int = 0

    @cached_property
    def safe(self) -> tuple[Remark, ...]:
        """The remarks whose edits are applied without ``--unsafe``."""
        return chosen(self.remarks, unsafe=False)

    @cached_property
    def every(self) -> tuple[Remark, ...]:
        """The remarks whose edits are applied with ``--unsafe``."""
        return chosen(self.remarks, unsafe=True)

    def applied(self, *, unsafe: bool) -> tuple[Remark, ...]:
        """The remarks whose edits a delivery applies."""
        return self.every if unsafe else self.safe

    def edits(self, *, unsafe: bool) -> list[Edit]:
        """The edits a delivery applies, each once."""
        return list(dict.fromkeys(edit for remark in self.applied(unsafe=unsafe) for edit in remark.edits))


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The whole project. `files` are sorted by path; `only`: the root was this one file."""

    root: Path
    options: Options
    files: tuple[FileScan, ...]
    project: Project
    quality: tuple[Quality, ...] = ()
    only: str = ""
    #: One sentence per rule number that may appear.
    codes: dict[str, str] = field(default_factory=dict)

    def remarks(self) -> Iterator[tuple[FileScan, Remark, Place]]:
        """Every remark with its file and place."""
        for file in self.files:
            for remark, place in zip(file.remarks, file.places, strict=True):
                yield file, remark, place

    def changed(self, *, unsafe: bool) -> list[FileScan]:
        """The files a delivery would change."""
        return [file for file in self.files if file.edits(unsafe=unsafe)]

    def remaining(self, *, unsafe: bool, delivered: bool) -> int:
        """Remarks somebody still has to work on; without a delivery, edits that could be made count too."""
        left = 0
        for file in self.files:
            done = {id(remark) for remark in file.applied(unsafe=unsafe)} if delivered else set()
            left += sum(
                remark.outcome != "note" and not (remark.outcome == "replaced" and id(remark) in done)
                for remark in file.remarks
            )
        return left
