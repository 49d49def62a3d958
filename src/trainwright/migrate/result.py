"""A scan as tables and findings, blockers first: what every report is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainwright.core.result import (
    Cell,
    Chart,
    Column,
    Extra,
    Finding,
    Replacement,
    Result,
    Severity,
    TableSpec,
    Where,
)
from trainwright.migrate.effort import effort_of, minutes_by_file
from trainwright.migrate.remark import Outcome, Remark
from trainwright.migrate.scan import FileScan, Place, Scan

FILES = TableSpec(
    name="files",
    title="Files and the work left in them",
    help="Every file that was read, most work first. The time is an estimate for what the edits do not settle.",
    columns=(
        Column(name="file", unit="text", help="path below the project"),
        Column(name="language", unit="text", help="how it was read"),
        Column(name="lines", unit="count", help="lines"),
        Column(name="edits", unit="count", help="edits that are applied"),
        Column(name="findings", unit="count", help="places found, notes included"),
        Column(name="effort", unit="text", help="none, minutes (up to an hour), hours (up to a day) or days"),
        Column(name="minutes", unit="count", help="the same in minutes"),
        Column(name="blocked", unit="count", help="places without a counterpart on the NPU"),
        Column(name="manual", unit="count", help="places somebody must decide on"),
    ),
    chart=Chart(kind="bars", label=("file",), values=("minutes",)),
)
KINDS = TableSpec(
    name="kinds",
    title="What was found, blockers first",
    help="Findings that say the same, with the number of places.",
    columns=(
        Column(name="outcome", unit="text", help="blocked, manual, unsafe (edit held back), replaced or note"),
        Column(name="code", unit="text", help="rule; `trainwright migrate explain CODE` says more"),
        Column(name="title", unit="text", help="what was found"),
        Column(name="places", unit="count", help="how often"),
        Column(name="files", unit="count", help="in how many files"),
        Column(name="first", unit="text", help="the first places"),
    ),
)
CHANGES = TableSpec(
    name="changes",
    title="Changes that were delivered",
    help="One row per finding whose edits were applied; `new_line` is where it stands in the delivered file.",
    columns=(
        Column(name="file", unit="text", help="path below the project"),
        Column(name="line", unit="id", help="line before"),
        Column(name="new_line", unit="id", help="line in the delivered file"),
        Column(name="code", unit="text", help="rule"),
        Column(name="title", unit="text", help="what was found"),
    ),
)
_RANK: dict[str, int] = {"blocked": 0, "manual": 1, "unsafe": 2, "replaced": 3, "note": 4}
_SEVERITY: dict[str, Severity] = {
    "blocked": "error", "manual": "warning", "unsafe": "warning", "replaced": "info", "note": "info",
}  # fmt: skip
_FIRST_PLACES = 3


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The figures that head a report (see the contract of ``--json``).

    `edits_safe`: findings settled without asking; `edits_unsafe`: findings whose edits wait for ``--unsafe``;
    `auto_share`: the part of all findings but notes that the edits applied settle, 1 when there is nothing to do.
    """

    files: int
    lines: int
    edits_safe: int
    edits_unsafe: int
    manual: int
    blocked: int
    auto_share: float
    notes: int
    suppressed: int
    minutes: int
    #: How many findings the share is of.
    auto_share_of: int

    def record(self) -> dict[str, Extra]:
        """The figures as the machine-readable answer gives them."""
        return {
            "files": self.files, "lines": self.lines, "edits_safe": self.edits_safe,
            "edits_unsafe": self.edits_unsafe, "manual": self.manual, "blocked": self.blocked,
            "auto_share": self.auto_share, "notes": self.notes, "suppressed": self.suppressed,
            "minutes": self.minutes,
        }  # fmt: skip


def summary_of(scan: Scan, *, unsafe: bool) -> Summary:
    """The figures of a scan; with `unsafe` the share counts the unsafe edits, too."""
    remarks = [remark for file in scan.files for remark in file.remarks]
    work = [remark for remark in remarks if remark.outcome != "note"]
    settled = sum(remark.outcome == "replaced" for file in scan.files for remark in file.applied(unsafe=unsafe))
    return Summary(
        files=len(scan.files),
        lines=sum(file.lines for file in scan.files),
        edits_safe=sum(len(file.safe) for file in scan.files),
        edits_unsafe=sum(remark.safety == "unsafe" for remark in remarks),
        manual=sum(remark.outcome == "manual" for remark in remarks),
        blocked=sum(remark.outcome == "blocked" for remark in remarks),
        auto_share=settled / len(work) if work else 1.0,
        notes=len(remarks) - len(work),
        suppressed=sum(file.suppressed for file in scan.files),
        minutes=sum(_minutes(scan, unsafe=unsafe).values()),
        auto_share_of=len(work),
    )


def result_of(scan: Scan, *, unsafe: bool = False, delivered: bool = False) -> Result:
    """The whole answer. Places are those of the files as they were; `delivered` adds where the changes stand now."""
    ordered = sorted(scan.remarks(), key=lambda item: (_RANK[_kind(item[1])], item[0].path, item[1].start, item[1].end))
    tables = [FILES.table(_file_rows(scan, unsafe)), KINDS.table(_kind_rows(ordered))]
    if delivered:
        tables.append(CHANGES.table(_change_rows(scan, unsafe)))
    return Result(
        tables=tuple(tables),
        findings=tuple(_finding(file, remark, place) for file, remark, place in ordered),
        quality=scan.quality,
        extra={"summary": summary_of(scan, unsafe=unsafe).record()},
    )


def _kind(remark: Remark) -> Outcome | str:
    return "unsafe" if remark.outcome == "replaced" and remark.safety == "unsafe" else remark.outcome


def _minutes(scan: Scan, *, unsafe: bool) -> dict[str, int]:
    done = {id(remark) for file in scan.files for remark in file.applied(unsafe=unsafe)} if unsafe else set()
    return minutes_by_file(
        (file.path, remark)
        for file in scan.files
        for remark in file.remarks
        if remark.outcome != "replaced" or id(remark) not in done
    )


def _file_rows(scan: Scan, unsafe: bool) -> list[tuple[Cell, ...]]:
    minutes = _minutes(scan, unsafe=unsafe)
    rows: list[tuple[Cell, ...]] = [
        (
            file.path,
            file.language,
            file.lines,
            len(file.edits(unsafe=unsafe)),
            len(file.remarks),
            effort_of(minutes.get(file.path, 0)),
            minutes.get(file.path, 0),
            sum(remark.outcome == "blocked" for remark in file.remarks),
            sum(remark.outcome == "manual" for remark in file.remarks),
        )
        for file in sorted(scan.files, key=lambda file: (-minutes.get(file.path, 0), -len(file.remarks), file.path))
    ]
    return rows


def _kind_rows(ordered: list[tuple[FileScan, Remark, Place]]) -> Iterator[tuple[Cell, ...]]:
    groups: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for file, remark, place in ordered:
        key = (_kind(remark), remark.number, remark.title)
        groups.setdefault(key, []).append((file.path, place.region[0]))
    for (kind, number, title), places in sorted(groups.items(), key=lambda item: (_RANK[item[0][0]], -len(item[1]))):
        first = ", ".join(f"{path}:{line}" for path, line in places[:_FIRST_PLACES])
        more = f" and {len(places) - _FIRST_PLACES:,} more" if len(places) > _FIRST_PLACES else ""
        yield kind, number, title, len(places), len({path for path, _ in places}), first + more


def _change_rows(scan: Scan, unsafe: bool) -> Iterator[tuple[Cell, ...]]:
    for file in scan.changed(unsafe=unsafe):
        applied = {id(remark) for remark in file.applied(unsafe=unsafe)}
        grown: dict[tuple[int, int, str], int] = {}
        for remark, place in zip(file.remarks, file.places, strict=True):
            if id(remark) in applied:
                for edit, region in zip(remark.edits, place.edits, strict=True):
                    grown[edit.start, edit.end, edit.new] = edit.new.count("\n") - (region[2] - region[0])
        for remark, place in zip(file.remarks, file.places, strict=True):
            if id(remark) in applied:
                # what was put in right before a place moves it, what replaced it does not
                shift = sum(
                    lines
                    for (start, end, _), lines in grown.items()
                    if end <= remark.start and (start < remark.start or start == end)
                )
                line = place.region[0]
                yield file.path, line, line + shift, remark.number, remark.title


def _finding(file: FileScan, remark: Remark, place: Place) -> Finding:
    line, column, end_line, end_column = place.region
    return Finding(
        code=remark.number,
        severity=_SEVERITY[_kind(remark)],
        title=remark.title,
        detail=remark.detail,
        advice=remark.advice,
        where=Where(file=file.path, line=line, column=column),
        safety=remark.safety,
        before=place.before,
        after=place.after,
        end=(end_line, end_column),
        replacements=tuple(
            Replacement(line=region[0], column=region[1], end_line=region[2], end_column=region[3], new=edit.new)
            for edit, region in zip(remark.edits, place.edits, strict=True)
        ),
        source=remark.evidence,
    )
