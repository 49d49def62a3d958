"""What it costs to make a profile queryable, beside HTA, msprof-analyze and the bare JSON parsers.

Usage: ``python benchmarks/ingest.py``. Every figure of a run is measured in that run, on the same machine; the peers
are installed from the registry into environments of their own. Linux only. Exit code 0: every aim is met, 1: one is
missed, 2: it cannot run. See ``benchmarks/README.md`` for how each figure is taken.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from inputs import RANKS, SOURCE, events_written, made, size_mb, write_copies, write_ranks
from measure import CannotRunError, Usage, become_subreaper, measure

ROOT = Path(__file__).resolve().parents[1]
PEERS = Path(__file__).resolve().parent / "peers"
DATA = ROOT.parent / "shared" / "data" / "profiles"
SMALL_RUN = Path("msinsight/pytorch_2rank/db/level2")
BEST_OF = 3
PARSE_ONLY = "parse only:"
FULL_MB = 900.0  # the size that the CPU aim of the large task is given for


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table; None is printed as a dash. ``aims`` says of each aim whether it is met."""

    task: str
    tool: str
    input_mb: float
    events: int | None = None
    cpu_s: float | None = None
    wall_s: float | None = None
    peak_mb: float | None = None
    processes: int = 1
    ratio: float | None = None
    aims: dict[str, bool] = field(default_factory=dict)
    note: str = ""

    @property
    def verdict(self) -> str:
        return "" if not self.aims else "pass" if all(self.aims.values()) else "FAIL"


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where things are, and what was asked for."""

    work: Path
    data: Path
    size_mb: float
    skip_peers: bool


# ---- the tools -----------------------------------------------------------------------------------------------------


@contextmanager
def fresh_store(bench: Bench) -> Iterator[dict[str, str]]:
    """The environment that runs this checkout with an empty store."""
    with tempfile.TemporaryDirectory(dir=bench.work, prefix="store-") as cache:
        yield {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TRAINWRIGHT_CACHE": cache}


def ours(command: str, run: Path, env: dict[str, str]) -> Usage:
    return measure([sys.executable, "-m", "trainwright", command, run, "--json"], env)


def count_events(usage: Usage) -> int:
    """Events read, from the answer's ``ranks`` table. Raises `CannotRunError` if a rank failed or events were lost."""
    table = usage.answer()["tables"]["ranks"]
    ranks = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    lost = sum(rank["lost"] for rank in ranks)
    if not ranks or lost:
        raise CannotRunError(f"trainwright read {len(ranks)} ranks and lost {lost} events")
    return sum(rank["events"] for rank in ranks)


def row(task: str, tool: str, run: Path, usage: Usage, **more: Any) -> Row:
    return Row(
        task=task,
        tool=tool,
        input_mb=size_mb(run),
        cpu_s=usage.cpu_s,
        wall_s=usage.wall_s,
        peak_mb=usage.peak_mb,
        processes=usage.processes,
        **more,
    )


def environment(bench: Bench, *packages: str) -> tuple[Path, str]:
    """A virtual environment with the packages, made once in the work folder; its ``bin`` and the versions in it."""
    folder = bench.work / ("venv-" + "-".join(packages)).lower()
    binaries = folder / "bin"
    ready = folder / "ready"
    if not ready.exists():
        print(f"installing {', '.join(packages)} ...", file=sys.stderr)
        measure([sys.executable, "-m", "venv", "--clear", folder])
        measure([binaries / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
        ready.touch()
    ask = "import sys, importlib.metadata as m; print(', '.join(f'{p} {m.version(p)}' for p in sys.argv[1:]))"
    return binaries, measure([binaries / "python", "-c", ask, *packages]).output.strip()


def scaled(usage: Usage, start_cpu_s: float, factor: float) -> Usage:
    """The use on an input ``factor`` times as large: start-up stays, the rest grows in proportion."""
    start_wall_s = min(start_cpu_s, usage.wall_s)
    return replace(
        usage,
        cpu_s=start_cpu_s + (usage.cpu_s - start_cpu_s) * factor,
        wall_s=start_wall_s + (usage.wall_s - start_wall_s) * factor,
    )


def run_hta(bench: Bench, sample: Path, rank: int, factor: float) -> tuple[str, Usage]:
    binaries, version = environment(bench, "HolisticTraceAnalysis")
    usage = measure([binaries / "python", PEERS / "hta_load.py", sample.resolve(), str(rank)])
    return version, scaled(usage, usage.answer()["start_cpu_s"], factor)


def run_msprof_compare(bench: Bench, sample: Path, factor: float) -> tuple[str, Usage]:
    """Compare the sample with itself: two files are read, so half of what follows start-up is charged to one."""
    binaries, version = environment(bench, "msprof-analyze")
    tool = binaries / "msprof-analyze"
    start = measure([tool, "compare", "--help"])
    with tempfile.TemporaryDirectory(dir=bench.work) as out:
        least = ["--enable_profiling_compare", "--disable_details", "--disable_module"]
        usage = measure([tool, "compare", "-d", sample, "-bp", sample, "--output_path", out, *least])
        if not list(Path(out).glob("performance_comparison_result_*.xlsx")):
            raise CannotRunError("msprof-analyze compare wrote no result")
    return version, scaled(usage, start.cpu_s, factor / 2)


def peer_row(task: str, tool: str, run: Path, note: str, drive: Callable[[], tuple[str, Usage]]) -> Row:
    """The row of a peer, or one that says why there is none: a peer that does not run is no failure of ours."""
    try:
        version, usage = drive()
    except CannotRunError as error:
        return Row(task=task, tool=tool, input_mb=size_mb(run), note=f"not measured: {error}")
    return row(task, f"{version} {tool}".strip(), run, usage, note=note)


# ---- the tasks -----------------------------------------------------------------------------------------------------


def large_task(bench: Bench) -> list[Row]:
    """One large Kineto file: make it queryable, open it again; the peers and parsers on one copy, scaled."""
    name = f"kineto-{bench.size_mb:g}mb.json"
    large = made(bench.work / name, write_copies, bench.data, bench.work / name, bench.size_mb)
    sample = made(bench.work / "sample.json", write_copies, bench.data, bench.work / "sample.json", None)
    with fresh_store(bench) as env:
        first = ours("ingest", large, env)
        again = ours("ingest", large, env)
    most_cpu_s = 1 + 24 * bench.size_mb / FULL_MB  # 25 s for the full size, of which 1 s is start-up
    events, written = count_events(first), events_written(large)
    aims = {
        f"CPU <= {most_cpu_s:.3g} s": first.cpu_s <= most_cpu_s,
        "peak <= 1300 MB": first.peak_mb <= 1300,
        f"all {written} events": events == written,
    }
    rows = [
        row("large", "trainwright ingest", large, first, events=events, aims=aims),
        row("large", "trainwright ingest again", large, again, aims={"wall <= 1 s": again.wall_s <= 1}),
    ]
    factor = size_mb(large) / size_mb(sample)
    note = f"scaled from {size_mb(sample):.0f} MB, peak as measured there"
    rows += raw_rows(bench, large, sample, factor, note)
    if bench.skip_peers:
        return rows
    both = f"{note}; half of a comparison of two"
    hta = peer_row("large", "load, breakdown, overlap", large, note, lambda: run_hta(bench, sample, 1, factor))
    return [*rows, hta, peer_row("large", "compare", large, both, lambda: run_msprof_compare(bench, sample, factor))]


def raw_rows(bench: Bench, large: Path, sample: Path, factor: float, note: str) -> list[Row]:
    """What parsing alone costs: the standard library's parser, and the fast ones unless the peers are skipped."""

    def drive(library: str) -> tuple[str, Usage]:
        python, version = Path(sys.executable), "json"
        if library != "json":
            binaries, version = environment(bench, library.removesuffix(".Raw"))
            python, version = binaries / "python", version + " Raw" * library.endswith(".Raw")
        usage = measure([python, PEERS / "raw_parse.py", library, sample])
        parse_s = usage.answer()["cpu_s"]
        return f"{PARSE_ONLY} {version}", replace(usage, cpu_s=parse_s * factor, wall_s=parse_s * factor)

    libraries = ["json"] if bench.skip_peers else ["json", "orjson", "msgspec", "msgspec.Raw"]
    return [peer_row("large", "", large, note, partial(drive, library)) for library in libraries]


def ranks_task(bench: Bench) -> list[Row]:
    """Eight ranks: everything ours can say of them, against HTA's load and two of its analyses."""
    folder = made(bench.work / "ranks", write_ranks, bench.data, bench.work / "ranks")
    with fresh_store(bench) as env:
        usage = ours("analyze", folder, env)
    events, written = count_events(usage), events_written(folder)
    aims = {"CPU <= 12 s": usage.cpu_s <= 12, f"all {written} events": events == written}
    rows = [row("ranks", "trainwright analyze", folder, usage, events=events, aims=aims)]
    if bench.skip_peers:
        return rows
    note = "scaled from 1 rank, peak as measured there"
    one = folder / "rank0.json"
    return [*rows, peer_row("ranks", "load, breakdown, overlap", folder, note, lambda: run_hta(bench, one, 0, RANKS))]


def small_task(bench: Bench) -> list[Row]:
    """Two small Ascend databases: what start-up and many small steps cost."""
    run = bench.data / SMALL_RUN
    usages = []
    for _ in range(BEST_OF):
        with fresh_store(bench) as env:
            usages.append(ours("analyze", run, env))
    best = min(usages, key=lambda usage: usage.cpu_s)
    aims, note = {"CPU <= 1.2 s": best.cpu_s <= 1.2}, f"best of {BEST_OF}, empty store each time"
    rows = [row("small", "trainwright analyze", run, best, events=count_events(best), aims=aims, note=note)]
    if bench.skip_peers:
        return rows

    def drive() -> tuple[str, Usage]:
        binaries, version = environment(bench, "msprof-analyze")
        # Some of its modes write into the profile: it gets a copy.
        with tempfile.TemporaryDirectory(dir=bench.work) as out:
            copy = shutil.copytree(run, Path(out) / "run", copy_function=shutil.copyfile)
            mode = ["cluster", "-m", "compute_op_sum"]
            return version, measure([binaries / "msprof-analyze", *mode, "-d", copy, "-o", Path(out) / "out"])

    return [*rows, peer_row("small", "compute_op_sum", run, "one of its analyses, run once", drive)]


TASKS: dict[str, Callable[[Bench], list[Row]]] = {"large": large_task, "ranks": ranks_task, "small": small_task}


# ---- the answer ----------------------------------------------------------------------------------------------------


def with_ratios(rows: Sequence[Row]) -> list[Row]:
    """Put into each row its CPU time as a multiple of the first row of its task."""
    base: dict[str, float] = {}
    for each in rows:
        if each.cpu_s is not None:
            base.setdefault(each.task, each.cpu_s)
    return [each if each.cpu_s is None else replace(each, ratio=each.cpu_s / base[each.task]) for each in rows]


def limit(rows: Sequence[Row]) -> dict[str, float]:
    """MB of input a CPU second, of ours on the large file and of each parser that does nothing else."""
    wanted = [each for each in rows if each.tool == "trainwright ingest" or each.tool.startswith(PARSE_ONLY)]
    return {each.tool: each.input_mb / each.cpu_s for each in wanted if each.cpu_s}


def remarks(each: Row) -> str:
    aims = [f"{aim}: {'met' if met else 'MISSED'}" for aim, met in each.aims.items()]
    return "; ".join([*aims, each.note] if each.note else aims)


def print_table(rows: Sequence[Row]) -> None:
    titles = ["task", "tool", "input MB", "events", "CPU s", "wall s", "peak MB", "ratio", "", "aims and notes"]
    table = [titles]
    for each in rows:
        tree = f" ({each.processes} processes)" if each.processes > 1 else ""
        table.append(
            [
                each.task,
                each.tool,
                f"{each.input_mb:.1f}",
                "-" if each.events is None else str(each.events),
                "-" if each.cpu_s is None else f"{each.cpu_s:.2f}",
                "-" if each.wall_s is None else f"{each.wall_s:.2f}",
                "-" if each.peak_mb is None else f"{each.peak_mb:.0f}{tree}",
                "-" if each.ratio is None else f"{each.ratio:.2f}",
                each.verdict,
                remarks(each),
            ]
        )
    widths = [max(len(line[column]) for line in table) for column in range(len(titles))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def run_task(name: str, bench: Bench) -> list[Row]:
    """The rows of a task, or one that fails and says why; the tasks after it still run."""
    try:
        return TASKS[name](bench)
    except CannotRunError as error:
        return [Row(task=name, tool="trainwright", input_mb=0.0, aims={"runs": False}, note=str(error))]


def report(rows: Sequence[Row], as_json: bool) -> None:
    machine = {"machine": platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()}
    speeds = limit(rows)
    if as_json:
        lines = [{**asdict(each), "verdict": each.verdict} for each in rows]
        print(json.dumps({"machine": machine, "rows": lines, "limit_mb_per_cpu_s": speeds}, indent=1))
        return
    print(f"{machine['machine']}, {machine['cpus']} CPUs, Python {machine['python']}; times of one run each\n")
    print_table(rows)
    if speeds:
        print("\nlimit, MB per CPU second: " + ", ".join(f"{tool} {speed:.0f}" for tool, speed in speeds.items()))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of real profiles (default: beside the project)")
    parser.add_argument("--size-mb", type=float, default=FULL_MB, help="size of the large file (default: 900)")
    parser.add_argument("--tasks", default=",".join(TASKS), help="which of large, ranks, small (default: all)")
    parser.add_argument("--skip-peers", action="store_true", help="measure only ours and the standard JSON parser")
    parser.add_argument("--work-dir", type=Path, help="keep inputs and environments here for the next run")
    parser.add_argument("--keep", action="store_true", help="keep the work folder if it is a temporary one")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def run(arguments: argparse.Namespace, work: Path) -> int:
    bench = Bench(work=work, data=arguments.data, size_mb=arguments.size_mb, skip_peers=arguments.skip_peers)
    become_subreaper()
    with fresh_store(bench) as env:  # compiles the byte code, which is no part of any figure
        measure([sys.executable, "-m", "trainwright", "--help"], env)
    rows = with_ratios([each for task in arguments.tasks.split(",") for each in run_task(task, bench)])
    report(rows, arguments.json)
    return 1 if any(each.verdict == "FAIL" for each in rows) else 0


def main() -> int:
    arguments = parse_arguments()
    unknown = set(arguments.tasks.split(",")) - TASKS.keys()
    if unknown:
        print(f"--tasks: {', '.join(sorted(unknown))} is not one of {', '.join(TASKS)}", file=sys.stderr)
        return 2
    for needed in (SOURCE, SMALL_RUN):
        if not (arguments.data / needed).exists():
            print(f"{arguments.data / needed} is missing: give the folder of real profiles by --data", file=sys.stderr)
            return 2
    given: Path | None = arguments.work_dir
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
    work = given or Path(tempfile.mkdtemp(prefix="trainwright-ingest-"))
    try:
        return run(arguments, work.resolve())
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        if given is None and not arguments.keep:
            shutil.rmtree(work)
        else:
            print(f"inputs and environments are kept in {work}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
