"""The inputs of the benchmarks, made from one real profile."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import re
import sys
from collections.abc import Callable
from pathlib import Path

from measure import CannotRunError

SOURCE = Path("hta/df_index_resolver/df_index_resolver.json.gz")
RANKS = 8
GAP_US = 1000  # idle time between two copies of the source

# What makes one copy of an event differ from the next: its time, the ids that link it to others, the step's number.
SHIFTED = re.compile(
    r'(?P<key>"(?:ts|id|External id|correlation|Ev Idx|Sequence number)":|ProfilerStep#)(?P<number>\d+)'
)
KINDS = {'"ts":': "time", "ProfilerStep#": "step"}  # every other key is an id


def read_source(data: Path) -> str:
    with gzip.open(data / SOURCE, "rt", encoding="utf-8") as file:
        return file.read()


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def split_numbers(text: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Cut out the numbers that differ from copy to copy: ``n + 1`` literals around ``n`` (kind, value)."""
    literals: list[str] = []
    numbers: list[tuple[str, int]] = []
    position = 0
    for match in SHIFTED.finditer(text):
        literals.append(text[position : match.end("key")])
        numbers.append((KINDS.get(match["key"], "id"), int(match["number"])))
        position = match.end()
    return [*literals, text[position:]], numbers


def write_copies(data: Path, target: Path, size_mb: float | None) -> None:
    """Write a Kineto file of about ``size_mb`` (one copy if None) by repeating the source, each copy after the last.

    Times and steps go on from copy to copy and ids are new in each; head, tail and metadata events stand once. One
    copy is in memory at a time. Beside the file goes ``.events``, the number of events in it.
    """
    trace = json.loads(read_source(data))
    events = trace["traceEvents"]
    keys = list(trace)
    before, after = keys[: keys.index("traceEvents")], keys[keys.index("traceEvents") + 1 :]
    once = [event for event in events if event["ph"] == "M" or event["name"] == "Record Window End"]
    body = [event for event in events if event["ph"] != "M" and event["name"] != "Record Window End"]
    text = ",".join(map(compact, body))
    literals, numbers = split_numbers(text)
    span_us = max(event["ts"] + event.get("dur", 0) for event in body) - min(event["ts"] for event in body) + GAP_US
    steps = len({event["name"] for event in body if event["name"].startswith("ProfilerStep#")})
    stride = {"time": span_us, "step": steps, "id": 1 + max(value for kind, value in numbers if kind == "id")}
    copies = 1 if size_mb is None else max(1, round(size_mb * 1e6 / len(text)))
    for event in once:
        event["ts"] += (copies - 1) * span_us if event["name"] == "Record Window End" else 0
    part = target.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.write(compact({key: trace[key] for key in before})[:-1] + ',"traceEvents":[')
        pieces = [""] * (2 * len(numbers) + 1)
        pieces[0::2] = literals
        for copy in range(copies):
            pieces[1::2] = [str(value + copy * stride[kind]) for kind, value in numbers]
            file.write("".join(pieces) + ",")
        file.write(compact(once)[1:] + "," + compact({key: trace[key] for key in after})[1:])
    target.with_suffix(".events").write_text(str(copies * len(body) + len(once)))
    part.rename(target)


def write_ranks(data: Path, folder: Path) -> None:
    """Write the source as it is, once for each rank, with that rank in its ``distributedInfo``.

    Beside the folder goes ``.events``, the number of events in all of them.
    """
    text = read_source(data)
    part = folder.with_suffix(".part")
    part.mkdir(exist_ok=True)
    for rank in range(RANKS):
        info = f'"rank": {rank}, "world_size": {RANKS}'
        (part / f"rank{rank}.json").write_text(text.replace('"rank": 1, "world_size": 2', info, 1), encoding="utf-8")
    folder.with_suffix(".events").write_text(str(RANKS * len(json.loads(text)["traceEvents"])))
    part.rename(folder)


def made(target: Path, make: Callable[..., None], *args: object) -> Path:
    """Make an input unless an earlier run left it, and read it once so that the page cache is warm.

    It is made in a process of its own: on Linux a child's peak memory starts at that of its parent, which must stay
    small to measure others.
    """
    if not target.exists():
        print(f"making {target.name} ...", file=sys.stderr)
        maker = multiprocessing.get_context("fork").Process(target=make, args=args)
        maker.start()
        maker.join()
        if maker.exitcode:
            raise CannotRunError(f"{target.name} could not be made")
    for path in [target] if target.is_file() else sorted(target.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                while file.read(1 << 20):
                    pass
    return target


def events_written(target: Path) -> int:
    """The number of events that the maker of an input left beside it."""
    return int(target.with_suffix(".events").read_text())


def size_mb(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6
