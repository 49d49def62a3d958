"""Scan one project and check what comes of it: the part of the corpus benchmark that runs in a process of its own.

Usage: ``python benchmarks/migrate_package.py ROOT``. The last line printed is JSON. CPU time and peak memory are taken
right after the first scan, start-up included, before anything is checked.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import resource
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from migrate_checks import Checks, check_file

from trainwright.migrate.copy import write_copy
from trainwright.migrate.engine import scan
from trainwright.migrate.options import Options
from trainwright.migrate.scan import FileScan, Scan

BUGS = ("internal-error", "edits-withdrawn", "not-scanned")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="the project")
    parser.add_argument("--style", default="npu", help="npu, agnostic or shim")
    parser.add_argument("--no-checks", action="store_true", help="measure only")
    parser.add_argument("--findings", type=Path, help="write every finding here, as a JSON document a line")
    parser.add_argument("--work-dir", type=Path, help="where migrated copies are made for a while")
    arguments = parser.parse_args()
    options = Options(style=arguments.style)
    found = scan(arguments.root, options=options, jobs=1)
    answer = used() | figures(found)
    if arguments.findings is not None:
        write_findings(found, arguments.findings)
    if not arguments.no_checks:
        checks = Checks()
        for unsafe in (False, True):
            check_delivery(checks, found, unsafe=unsafe, work=arguments.work_dir)
        answer["checks"] = asdict(checks)
    print(json.dumps(answer))
    return 0


def used() -> dict[str, Any]:
    """CPU seconds and peak memory of this process so far, with what it started."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return {"cpu_s": cpu_s, "peak_mib": max(own.ru_maxrss, children.ru_maxrss) / 1024}


def figures(found: Scan) -> dict[str, Any]:
    """What the scan counted."""
    outcomes = Counter(remark.outcome for _, remark, _ in found.remarks())
    bugs = [note for note in found.quality if note.code in BUGS]
    return {
        "files": len(found.files),
        "lines": sum(file.lines for file in found.files),
        "python_lines": sum(file.lines for file in found.files if file.language == "python"),
        "outcomes": dict(outcomes),
        "edits_safe": sum(len(file.edits(unsafe=False)) for file in found.files),
        "edits_all": sum(len(file.edits(unsafe=True)) for file in found.files),
        "bugs": [f"{note.code} {note.file}: {note.example}" for note in bugs],
        "notes": dict(Counter(note.code for note in found.quality)),
    }


def write_findings(found: Scan, target: Path) -> None:
    """Write all findings, whole or not at all."""
    staged = target.with_name(f".{target.name}.new")
    applied = {id(remark) for scanned in found.files for remark in scanned.every}
    with staged.open("w", encoding="utf-8") as file:
        for scanned, remark, place in found.remarks():
            finding = {
                "file": scanned.path,
                "line": place.region[0],
                "number": remark.number,
                "safety": remark.safety if id(remark) in applied or not remark.edits else "overlapped",
                "outcome": remark.outcome,
                "title": remark.title,
                "advice": remark.advice,
                "before": place.before,
                "after": place.after or " | ".join(edit.new for edit in remark.edits),
            }
            file.write(json.dumps(finding, ensure_ascii=True) + "\n")
    staged.replace(target)


# ---- deliveries ----------------------------------------------------------------------------------------------------


def check_delivery(checks: Checks, found: Scan, *, unsafe: bool, work: Path | None) -> None:
    """Write a migrated copy, check every file of it, scan the copy and expect no edit."""
    changed = found.changed(unsafe=unsafe)
    with tempfile.TemporaryDirectory(dir=work, prefix="migrated-") as folder:
        copy = Path(folder) / "project"
        write_copy(found, copy, unsafe=unsafe)
        for file in changed:
            before, after = ((root / file.path).read_bytes() for root in (found.root, copy))
            check_file(checks, file, before=before, after=after, unsafe=unsafe)
        check_others(checks, found, copy, {file.path for file in changed})
        again = scan(copy, options=found.options, jobs=1)
    kind = "all edits" if unsafe else "safe edits"
    places = {file.path: file for file in again.changed(unsafe=unsafe)}
    for file in again.files:
        twice = places.get(file.path)
        checks.second_run.count(twice is None, f"{file.path}: after {kind}, {told(twice, unsafe=unsafe)}")
    for bug in figures(again)["bugs"]:
        checks.second_run.count(False, f"after {kind}: {bug}")


def check_others(checks: Checks, found: Scan, copy: Path, changed: set[str]) -> None:
    """Every scanned file without edits must be in the copy, byte for byte, and every mode must be as it was."""
    for file in found.files:
        old, new = found.root / file.path, copy / file.path
        same = file.path in changed or filecmp.cmp(old, new, shallow=False)
        checks.bytes_kept.count(same, f"{file.path}: changed without an edit")
        kept = old.stat().st_mode == new.stat().st_mode
        checks.bytes_kept.count(kept, f"{file.path}: its mode changed")


def told(file: FileScan | None, *, unsafe: bool) -> str:
    """The first remark whose edits the second run would apply."""
    if file is None:
        return ""
    remark = file.applied(unsafe=unsafe)[0]
    return f"{remark.number} {remark.title!r} would write {remark.edits[0].new!r}"


if __name__ == "__main__":
    sys.exit(main())
