"""Migrate public CUDA projects: what holds of every file, how fast it is, and how often it is right.

Usage: ``python benchmarks/migrate_corpus.py --work-dir FOLDER``. It fetches pinned source archives from the package
index that pip is set up for (170 MB; 1 GB unpacked), scans each in a process of its own, applies the edits to a copy,
and checks every changed file and a second run. LibCST over a part of the same files is the peer. Exit code 0: every
check and aim is met, 1: one is missed, 2: it cannot run. See ``benchmarks/README.md`` for how each figure is taken.

``--sample N`` draws findings for labelling by hand, ``--labels FILE`` computes the precision out of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from corpus_archives import PACKAGES, unpacked
from corpus_sample import GROUPS, drawn, findings_of, precisions, write_sample
from measure import CannotRunError, measure

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
CHECKS = {
    "parses": "outputs that parse (of inputs that do)",
    "bytes_kept": "files with every byte outside of edits kept, and modes",
    "second_run": "files that a second run leaves alone",
    "no_no_op": "edits that change something",
    "names_exist": "new NPU names that exist",
    "registered": "files that import torch_npu where their edits need it",
}
LINES_PER_CPU_S = 5000
MEMORY_LINES = 45_000
MEMORY_MIB = 300
MEMORY_PACKAGE = "megatron-core"
LIBCST = "libcst==1.9.0"
LIBCST_SEED = 1

Answer = dict[str, Any]


def child(work: Path, *command: str | Path) -> Answer:
    """What `migrate_package.py` answers; it measures itself, so that several can run at a time."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "TRAINWRIGHT_CACHE": str(work / "cache")}
    whole = [sys.executable, HERE / "migrate_package.py", *command]
    done = subprocess.run(whole, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = " | ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
        raise CannotRunError(f"migrate_package.py ended with {done.returncode}: {tail}")
    answer: Answer = json.loads(done.stdout.splitlines()[-1])
    return answer


# ---- the packages --------------------------------------------------------------------------------------------------


def scan_package(name: str, work: Path, *, style: str, checked: bool) -> Answer:
    """One package, fetched, scanned and checked. What cannot run is a failed answer, so that the others go on."""
    findings = findings_file(name, work)
    try:
        root = unpacked(PACKAGES[name], work)
        least = [] if checked else ["--no-checks"]
        answer = child(work, root, "--style", style, "--findings", findings, "--work-dir", copies(work), *least)
    except CannotRunError as error:
        return {"package": name, "error": str(error)}
    if not answer["lines"]:
        return {"package": name, "error": "no file was scanned: is the work folder ignored by git?"}
    return {"package": name} | answer


def findings_file(name: str, work: Path) -> Path:
    folder = work / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.jsonl"


def copies(work: Path) -> Path:
    folder = work / "copies"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def print_packages(answers: Sequence[Answer]) -> None:
    titles = ["package", "files", "lines", "replaced", "manual", "blocked", "note", "safe", "all edits", "CPU s",
              "lines/CPU s", "peak MiB", "failed checks"]  # fmt: skip
    table = [titles]
    for answer in answers:
        if "error" in answer:
            table.append([answer["package"], f"FAILED: {answer['error']}"] + [""] * (len(titles) - 2))
            continue
        outcomes = [answer["outcomes"].get(outcome, 0) for outcome in ("replaced", "manual", "blocked", "note")]
        failed = sum(tally["failed"] for tally in answer.get("checks", {}).values()) + len(answer["bugs"])
        counts = [answer["files"], answer["lines"], *outcomes, answer["edits_safe"], answer["edits_all"]]
        speed = f"{answer['lines'] / answer['cpu_s']:.0f}"
        table.append(
            [answer["package"], *map(str, counts), f"{answer['cpu_s']:.1f}", speed, f"{answer['peak_mib']:.0f}",
             str(failed)]
        )  # fmt: skip
    widths = [max(len(line[column]) for line in table if "FAILED" not in line[1]) for column in range(len(titles))]
    for line in table:
        cells = (cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(line, widths)))  # noqa: B905
        print("  ".join(cells).rstrip())


def print_checks(answers: Sequence[Answer]) -> bool:
    """One line a check over all packages, with the first failures of each package; whether all hold."""
    good = True
    for key, sentence in CHECKS.items():
        tallies = [(answer["package"], answer["checks"][key]) for answer in answers if "checks" in answer]
        made, failed = (sum(tally[part] for _, tally in tallies) for part in ("made", "failed"))
        # Rounding must not turn a failure into 100 %, and a check that was never made proves nothing.
        shown = "-" if not made else "100 %" if not failed else f"{min(100 * (1 - failed / made), 99.99):.2f} %"
        print(f"{shown:>8}  {made - failed} of {made} {sentence}")
        for package, tally in tallies:
            for example in tally["examples"]:
                print(f"          {package}: {example}")
        good &= bool(made) and not failed
    bugs = [f"{answer['package']}: {bug}" for answer in answers for bug in answer.get("bugs", ())]
    print(f"{len(bugs):>8}  files that were given up or had edits withdrawn")
    for bug in bugs:
        print(f"          {bug}")
    return good and not bugs


# ---- speed and memory ----------------------------------------------------------------------------------------------


def print_speed(answers: Sequence[Answer]) -> bool:
    """Lines a CPU second over the whole corpus."""
    lines, cpu_s = (sum(answer[part] for answer in answers) for part in ("lines", "cpu_s"))
    good = bool(lines >= LINES_PER_CPU_S * cpu_s)
    print(f"speed: {lines} lines in {cpu_s:.1f} CPU s, {lines / cpu_s:.0f} lines a CPU second, "
          f"aim {LINES_PER_CPU_S}: {'met' if good else 'MISSED'}")  # fmt: skip
    return good


def memory(work: Path) -> bool:
    """Peak memory over as many whole files of one package as make the lines that the aim speaks of."""
    root = unpacked(PACKAGES[MEMORY_PACKAGE], work)
    files = sorted(root.rglob("*.py"))
    folder = python_files(work / f"memory-{MEMORY_LINES}", {MEMORY_PACKAGE: root}, files, MEMORY_LINES)
    answer = child(work, folder, "--no-checks")
    good = bool(answer["peak_mib"] < MEMORY_MIB)
    print(f"memory: {answer['peak_mib']:.0f} MiB at {answer['lines']} lines of {MEMORY_PACKAGE}, "
          f"aim below {MEMORY_MIB}: {'met' if good else 'MISSED'}")  # fmt: skip
    return good


def python_files(folder: Path, roots: Mapping[str, Path], files: Sequence[Path], most_lines: int) -> Path:
    """A folder with copies of these files, one after the other, until there are `most_lines` lines."""
    if folder.exists():
        shutil.rmtree(folder)
    lines = 0
    for path in files:
        if lines >= most_lines:
            break
        package, root = next((name, root) for name, root in roots.items() if path.is_relative_to(root))
        target = folder / package / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        lines += len(shutil.copyfile(path, target).read_bytes().splitlines())
    return folder


def compare(roots: Mapping[str, Path], work: Path, *, most_lines: int, all_lines: int) -> None:
    """LibCST and ours over the same Python files, drawn from the corpus; the ratio of their CPU time."""
    files = [path for root in roots.values() for path in sorted(root.rglob("*.py")) if path.is_file()]
    Random(LIBCST_SEED).shuffle(files)
    folder = python_files(work / "libcst-files", roots, files, most_lines)
    peer = measure([libcst_python(work), HERE / "migrate_libcst.py", folder]).answer()
    ours = child(work, folder, "--no-checks")
    factor = all_lines / peer["lines"]
    if not ours["python_lines"]:
        raise CannotRunError(f"ours read none of the {peer['files']} files that LibCST read")
    ratio = (peer["cpu_s"] / peer["lines"]) / (ours["cpu_s"] / ours["python_lines"])
    print(f"peer: {LIBCST} parses and resolves {peer['lines']} lines in {peer['files']} files "
          f"({peer['unread']} it cannot read): {peer['cpu_s']:.1f} CPU s, {peer['peak_mib']:.0f} MiB; "
          f"ours scans {ours['python_lines']} lines of them: {ours['cpu_s']:.1f} CPU s, {ours['peak_mib']:.0f} MiB; "
          f"ratio of CPU time a line {ratio:.1f}")  # fmt: skip
    if factor > 1:
        print(f"      scaled by lines, LibCST would need {factor * peer['cpu_s']:.0f} CPU s for all {all_lines} "
              "lines of Python")  # fmt: skip


def libcst_python(work: Path) -> Path:
    """A Python with LibCST, in an environment that is made once in the work folder."""
    folder = work / "venv-libcst"
    ready = folder / "ready"
    if not ready.exists():
        print(f"installing {LIBCST} ...", file=sys.stderr)
        measure([sys.executable, "-m", "venv", "--clear", folder])
        measure([folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", LIBCST])
        ready.touch()
    return folder / "bin/python"


# ---- the whole -----------------------------------------------------------------------------------------------------


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, help="where archives, sources and copies go; kept for the next run")
    parser.add_argument("--packages", default=",".join(PACKAGES), help="which packages (default: all)")
    parser.add_argument("--style", choices=("npu", "agnostic", "shim"), default="npu", help="of the edits")
    parser.add_argument("--no-checks", action="store_true", help="measure and draw only")
    parser.add_argument("--skip-peers", action="store_true", help="leave LibCST out")
    parser.add_argument("--parallel", type=int, default=1, help="packages at a time (default: 1)")
    parser.add_argument("--libcst-lines", type=int, default=100_000, help="lines for LibCST (default: 100000)")
    parser.add_argument("--sample", type=int, metavar="N", help="draw N findings for labelling")
    parser.add_argument("--sample-from", choices=GROUPS, default="all", help="what to draw from (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--sample-file", type=Path, help="where the sample goes (default: in the work folder)")
    parser.add_argument("--labels", type=Path, metavar="FILE", help="compute the precision of a labelled sample; only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures of every package here, too")
    return parser.parse_args()


def judge(path: Path) -> int:
    """Print the precision of a labelled sample."""
    found = precisions(path)
    for precision in found:
        print(precision)
    return 0 if all(precision.met for precision in found) else 1


def scanned(names: Sequence[str], arguments: argparse.Namespace, work: Path) -> Iterator[Answer]:
    """The answers of the packages, in the order asked for."""

    def one(name: str) -> Answer:
        print(f"scanning {name} ...", file=sys.stderr)
        return scan_package(name, work, style=arguments.style, checked=not arguments.no_checks)

    with ThreadPoolExecutor(arguments.parallel) as pool:
        yield from pool.map(one, names)


def draw(arguments: argparse.Namespace, work: Path, roots: Mapping[str, Path]) -> None:
    """Write the sample that was asked for."""
    findings = findings_of({name: findings_file(name, work) for name in roots})
    sample = drawn(findings, count=arguments.sample, seed=arguments.seed, group=arguments.sample_from)
    target = arguments.sample_file or work / f"sample-{arguments.sample_from}-{arguments.seed}.csv"
    write_sample(target, sample, roots)
    print(
        f"wrote {len(sample)} findings to {target}: fill the column label with right or wrong, then --labels {target}"
    )


def run(names: Sequence[str], arguments: argparse.Namespace, work: Path) -> int:
    answers = list(scanned(names, arguments, work))
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, style {arguments.style}\n")
    print_packages(answers)
    ran = [answer for answer in answers if "error" not in answer]
    verdicts = [len(ran) == len(answers)]
    if ran:
        print()
        if not arguments.no_checks:
            verdicts.append(print_checks(ran))
        verdicts.append(print_speed(ran))
    if MEMORY_PACKAGE in names:
        verdicts.append(memory(work))
    roots = {answer["package"]: unpacked(PACKAGES[answer["package"]], work) for answer in ran}
    if ran and not arguments.skip_peers:
        compare(roots, work, most_lines=arguments.libcst_lines, all_lines=sum(a["python_lines"] for a in ran))
    if ran and arguments.sample:
        draw(arguments, work, roots)
    if arguments.json is not None:
        staged = arguments.json.with_name(f".{arguments.json.name}.new")
        staged.write_text(json.dumps(answers, indent=1), encoding="utf-8")
        staged.replace(arguments.json)
    return 0 if all(verdicts) else 1


def main() -> int:
    arguments = parse_arguments()
    names = arguments.packages.split(",")
    unknown = set(names) - PACKAGES.keys()
    if unknown:
        print(f"--packages: {', '.join(sorted(unknown))} is not one of {', '.join(PACKAGES)}", file=sys.stderr)
        return 2
    if arguments.labels is None and arguments.work_dir is None:
        print("give a folder for archives and copies by --work-dir", file=sys.stderr)
        return 2
    try:
        if arguments.labels is not None:
            return judge(arguments.labels)
        work = arguments.work_dir.resolve()
        work.mkdir(parents=True, exist_ok=True)
        return run(names, arguments, work)
    except (CannotRunError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
