"""Scan one project and check what comes of it: the part of the corpus benchmark that runs in a process of its own.

Usage: ``python benchmarks/migrate_package.py ROOT``. The last line printed is JSON. CPU time and peak memory are taken
right after the first scan, start-up included, before anything is checked.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from migrate_checks import Checks, check_file

from trainwright.migrate.engine import scan
from trainwright.migrate.options import Options
from trainwright.migrate.scan import FileScan, Scan
from trainwright.migrate.source import Source, plain_source, python_source
from trainwright.migrate.splice import spliced

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
    with staged.open("w", encoding="utf-8") as file:
        for scanned, remark, place in found.remarks():
            applied = remark in scanned.safe
            finding = {
                "file": scanned.path,
                "line": place.region[0],
                "number": remark.number,
                "safety": remark.safety if applied or remark.safety != "safe" else "overlapped",
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
    """Apply the edits to a copy, check every changed file, scan the copy and expect no edit."""
    changed = found.changed(unsafe=unsafe)
    with tempfile.TemporaryDirectory(dir=work, prefix="migrated-") as folder:
        copy = Path(folder) / "project"
        shutil.copytree(found.root, copy, symlinks=True)
        for file in changed:
            before = (found.root / file.path).read_bytes()
            edits = file.edits(unsafe=unsafe)
            after = spliced(source_of(file, before), edits)
            check_file(checks, path=file.path, language=file.language, before=before, after=after, edits=edits)
            (copy / file.path).chmod(0o644)
            (copy / file.path).write_bytes(after)
        again = scan(copy, options=found.options, jobs=1)
    kind = "safe edits" if not unsafe else "all edits"
    places = {file.path: file for file in again.changed(unsafe=unsafe)}
    for file in again.files:
        twice = places.get(file.path)
        checks.second_run.count(twice is None, f"{file.path}: after {kind}, {told(twice, unsafe=unsafe)}")
    for bug in figures(again)["bugs"]:
        checks.second_run.count(False, f"after {kind}: {bug}")


def told(file: FileScan | None, *, unsafe: bool) -> str:
    """The first remark whose edits the second run would apply."""
    if file is None:
        return ""
    remark = file.applied(unsafe=unsafe)[0]
    return f"{remark.number} {remark.title!r} would write {remark.edits[0].new!r}"


def source_of(file: FileScan, data: bytes) -> Source:
    """The file as its language reads it."""
    return python_source(file.path, data) if file.language == "python" else plain_source(file.path, data)


if __name__ == "__main__":
    sys.exit(main())
