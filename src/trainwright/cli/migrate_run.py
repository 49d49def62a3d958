"""Scan a project, deliver the edits as asked, and show what was found."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from trainwright.cli.migrate_options import REPORTS
from trainwright.cli.migrate_settings import Settings, settings_of
from trainwright.cli.options import DEFAULT_TOP
from trainwright.cli.progress import progress
from trainwright.core.errors import InputError
from trainwright.core.result import Finding, Quality, Result
from trainwright.core.units import format_share
from trainwright.migrate.copy import write_copy
from trainwright.migrate.deliver import diff, write_in_place
from trainwright.migrate.effort import spoken
from trainwright.migrate.engine import scan
from trainwright.migrate.result import result_of, summary_of
from trainwright.migrate.scan import Scan
from trainwright.report.renderer import RENDERERS, Page

#: Findings that differ of one rule, for the console.
_MOST_OF_A_RULE = 3


@dataclass(frozen=True, kw_only=True)
class _Delivery:
    """What was written."""

    done: bool = False
    said: str = ""
    notes: tuple[Quality, ...] = ()


def migrate(path: Path, given: argparse.Namespace) -> int:
    """Run the command; the exit code."""
    _check_reports(given.report, path, force=given.force)
    settings = settings_of(path, given)
    with progress("reading files", numbered=False) as on_progress:
        found = scan(
            path,
            options=settings.options,
            select=settings.select,
            ignore=settings.ignore,
            exclude=settings.exclude,
            rules=settings.rules,
            jobs=given.jobs,
            on_progress=on_progress,
        )
    if given.diff and not given.json:
        _admit(found)
        _print_diff(found, settings)
        _write_reports(_page(path, found, settings, _Delivery()), given)
        return _exit_code(found, settings, given, done=False)
    _admit(found)
    delivery = _deliver(found, settings, given)
    page = _page(path, found, settings, delivery)
    _write_reports(page, given)
    top = None if given.top == 0 else given.top or DEFAULT_TOP
    if given.json:
        sys.stdout.write(RENDERERS["json-data"].render(page))
    else:
        sys.stdout.write(RENDERERS["console"].render(_for_console(replace(page, top=top))))
    if delivery.said:
        print(delivery.said, file=sys.stderr)
    return _exit_code(found, settings, given, done=delivery.done)


def _admit(found: Scan) -> None:
    """Say aloud what is our own fault."""
    for code, what in (
        ("internal-error", "could not be scanned because of an error of ours"),
        ("edits-withdrawn", "would not have been readable after our edits, which were withdrawn"),
    ):
        files = [note.file for note in found.quality if note.code == code]
        if files:
            print(
                f"trainwright migrate: {files[0]} and {len(files) - 1:,} more files {what}. Please report it; "
                "the reason stands under input quality.",
                file=sys.stderr,
            )


def _exit_code(found: Scan, settings: Settings, given: argparse.Namespace, *, done: bool) -> int:
    return int(given.check and found.remaining(unsafe=settings.unsafe, delivered=done) > 0)


def _check_reports(reports: Iterable[Path], path: Path, *, force: bool) -> None:
    """Refuse what cannot be written before the work, not after it."""
    for report in reports:
        if report.suffix.lower() not in REPORTS:
            raise InputError(
                f"--report {report}: no report ends in {report.suffix or 'nothing'}", allowed=", ".join(REPORTS)
            )
        if report.exists() and not force:
            raise InputError(f"--report {report} exists", todo="choose another name, or overwrite it with --force")
        if report.resolve() == path.resolve():
            raise InputError(f"--report {report} is the file to migrate", todo="choose another name")


def _deliver(found: Scan, settings: Settings, given: argparse.Namespace) -> _Delivery:
    unsafe = settings.unsafe
    if given.out is not None:
        copied = write_copy(found, given.out, unsafe=unsafe, force=given.force)
        said = f"wrote {given.out}: {copied.files:,} files, {len(copied.changed):,} of them changed"
        return _Delivery(done=True, said=said, notes=copied.notes)
    if given.write:
        changed = write_in_place(found, unsafe=unsafe, force=given.force)
        return _Delivery(done=True, said=f"changed {len(changed):,} files in {found.root}")
    return _Delivery()


def _print_diff(found: Scan, settings: Settings) -> None:
    for text in diff(found, unsafe=settings.unsafe):
        sys.stdout.flush()
        data = text.encode("utf-8", errors="surrogateescape")
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            sys.stdout.write(text)
    print(_held_back(found, settings) or "all edits are shown", file=sys.stderr)


def _write_reports(page: Page, given: argparse.Namespace) -> None:
    for path in given.report:
        for written in RENDERERS[REPORTS[path.suffix.lower()]].write(page, path, force=given.force):
            print(f"wrote {written}", file=sys.stderr)


def _page(path: Path, found: Scan, settings: Settings, delivery: _Delivery) -> Page:
    result = result_of(found, unsafe=settings.unsafe, delivered=delivery.done)
    return Page(
        command="migrate",
        title="Migration to the NPU",
        subtitle=_subtitle(path, found, settings, delivery),
        result=replace(result, quality=(*result.quality, *delivery.notes)),
        next_steps=_next_steps(path, found, settings, delivery, result),
        findings_first=True,
        codes=found.codes,
        top=DEFAULT_TOP,
    )


def _subtitle(path: Path, found: Scan, settings: Settings, delivery: _Delivery) -> str:
    summary = summary_of(found, unsafe=settings.unsafe)
    options = settings.options
    places = summary.auto_share_of
    lines = [
        f"{path}: {summary.files:,} files, {summary.lines:,} lines; torch {options.torch} on {options.soc}, "
        f"style {options.style}",
        f"{format_share(summary.auto_share)} of {places:,} places "
        f"{'migrated' if delivery.done else 'can be migrated'} automatically; {summary.blocked:,} blocked, "
        f"{summary.manual:,} to decide, {summary.notes:,} notes"
        if places
        else "nothing that ties it to CUDA was found",
        f"work left for a person: {spoken(summary.minutes)} (an estimate)",
        _held_back(found, settings),
        f"{summary.suppressed:,} findings were silenced by comments or not selected" if summary.suppressed else "",
    ]
    return "\n".join(line for line in lines if line)


def _held_back(found: Scan, settings: Settings) -> str:
    count = summary_of(found, unsafe=False).edits_unsafe
    if not count or settings.unsafe:
        return ""
    return f"{count:,} unsafe {'edit is' if count == 1 else 'edits are'} held back (see them with --unsafe --diff)"


def _next_steps(path: Path, found: Scan, settings: Settings, delivery: _Delivery, result: Result) -> tuple[str, ...]:
    name = shlex.quote(str(path))
    steps = []
    if not delivery.done and found.changed(unsafe=settings.unsafe):
        copy = shlex.quote(f"{str(path.resolve()).rstrip(os.sep)}_npu")
        steps += [f"trainwright migrate {name} --diff", f"trainwright migrate {name} --out {copy}"]
    worst = next((finding for finding in result.findings if finding.severity != "info"), None)
    if worst is not None:
        steps.append(f"trainwright migrate {name} --report migration.html")
        steps.append(f"trainwright migrate explain {worst.code}")
    return tuple(steps)


def _for_console(page: Page) -> Page:
    """One finding for all places that say the same, blockers first; what settles itself is only counted."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in page.result.findings:
        if finding.severity != "info":
            groups.setdefault((finding.code, finding.title), []).append(finding)
    findings = tuple(_shortened(list(groups.values())))
    files = page.result.table("files")
    found = replace(files, rows=[row for row, count in zip(files.rows, files.column("findings"), strict=True) if count])
    result = Result(tables=(found,) if found.rows else (), findings=findings, quality=page.result.quality)
    return replace(page, result=result)


def _shortened(groups: list[list[Finding]]) -> Iterator[Finding]:
    """The first groups of every rule, and how many it has beyond them."""
    seen: Counter[str] = Counter()
    for group in groups:
        seen[group[0].code] += 1
        if seen[group[0].code] <= _MOST_OF_A_RULE:
            yield _grouped(group)
        elif seen[group[0].code] == _MOST_OF_A_RULE + 1:
            others = [other for other in groups if other[0].code == group[0].code][_MOST_OF_A_RULE:]
            yield replace(
                group[0],
                title=f"{group[0].code} {len(others):,} more of this rule",
                detail=f"{sum(map(len, others)):,} places in all; a report lists them.",
                advice="",
            )


def _grouped(group: list[Finding]) -> Finding:
    first = group[0]
    title = f"{first.code} {first.title}"
    if len(group) == 1:
        return replace(first, title=title)
    others = ", ".join(f"{finding.where.file}:{finding.where.line}" for finding in group[1:4])
    more = f" and {len(group) - 4:,} more" if len(group) > 4 else ""
    return replace(
        first, title=f"{title} ({len(group):,} places)", detail=f"{first.detail}\nAlso {others}{more}".strip()
    )
