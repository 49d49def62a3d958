"""What an emulated program did, process by process: written by each at its end, read by the command that ran them."""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainwright.core.result import Column, Finding, Result, TableSpec

PROCESSES = TableSpec(
    name="processes",
    title="Emulated processes",
    help="One row per process that used torch. Memory is that of tensors on the emulated device used most.",
    columns=(
        Column(name="rank", unit="id", help="rank, empty outside of torch.distributed"),
        Column(name="process", unit="id", help="process id"),
        Column(name="program", unit="text", help="what it ran"),
        Column(name="peak_bytes", unit="bytes", help="most bytes in tensors of one device"),
        Column(name="faulty_calls", unit="count", help="calls that a fault changed"),
        Column(name="overflowed", unit="text", help="whether a value saturated, on chips that saturate"),
    ),
)
OPERATORS = TableSpec(
    name="emulated_operators",
    title="Operators that did not run as on a CPU",
    help="Operators that a fault changed, over all processes.",
    columns=(
        Column(name="operator", unit="text", help="name in ATen"),
        Column(name="why", unit="text", help="the fault"),
        Column(name="calls", unit="count", help="calls"),
    ),
)


def record_at_exit(folder: str) -> None:
    """Write this process's record when it ends."""
    atexit.register(_write, folder, os.getpid())


def _write(folder: str, process: int) -> None:
    if os.getpid() != process:  # a forked child inherits the registration
        return
    from trainwright.emulate.device import STATE
    from trainwright.emulate.fault_profile import installed

    used = max(STATE.memories, key=lambda memory: memory.peak_bytes)
    content = {
        "rank": os.environ.get("RANK"),
        "process": process,
        "program": " ".join(sys.argv)[:200],
        "peak_bytes": used.peak_bytes,
        "faults": [[", ".join(f.operators), f.kind.code, f.changed] for f in installed()],
        "overflowed": STATE.overflowed if STATE.saturates else None,
    }
    staged = Path(folder) / f".{process}.tmp"
    try:
        staged.write_text(json.dumps(content), encoding="utf-8")
        staged.replace(Path(folder) / f"{process}.json")
    except OSError as error:
        sys.stderr.write(f"trainwright emulate: no record of process {process}: {error}\n")


def result_of(folder: Path) -> Result:
    """The records of a folder as tables and findings."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    records.sort(key=lambda record: (int(record["rank"] or 0), record["process"]))
    rows = [_row(record) for record in records]
    operators = sorted(_operators(records).items(), key=lambda item: (-item[1], item[0]))
    tables = (PROCESSES.table(rows), OPERATORS.table((name, why, calls) for (name, why), calls in operators))
    return Result(tables=tables, findings=tuple(_findings(operators)), extra={"emulated": True})


def _row(record: Mapping[str, Any]) -> tuple[Any, ...]:
    overflowed = {None: "", True: "yes", False: "no"}[record["overflowed"]]
    rank = None if record["rank"] is None else int(record["rank"])
    faulty = sum(changed for _, _, changed in record["faults"])
    return (
        rank,
        record["process"],
        record["program"],
        record["peak_bytes"],
        faulty,
        overflowed,
    )


def _operators(records: list[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for record in records:
        for name, kind, changed in record["faults"]:
            found[name, f"fault {kind}"] = found.get((name, f"fault {kind}"), 0) + changed
    return found


def _findings(operators: list[tuple[tuple[str, str], int]]) -> Iterator[Finding]:
    for (name, why), calls in operators:
        if not calls:
            yield Finding(
                code="emulate-idle-fault",
                severity="warning",
                title=f"{why} of {name} never happened: the program did not call it in the way that the profile says",
                advice="Check the operator, dtype, rank and `after` of the profile.",
            )
