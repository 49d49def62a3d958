"""The text form of an `AscendRun`: the folder that the profiler leaves for a rank."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.trace.ascend_run import COMM_NAME, GROUP_ID, PID, AscendRun, us
from tests.trace.make_ascend_timeline import timeline_events


def write_text(parent: Path, run: AscendRun, *, level: int = 2, timeline: bool = True) -> Path:
    """The folder of a rank as the profiler leaves it; level 0 lacks host calls and communication tasks."""
    folder = parent / f"node1_{PID + run.rank}_20250109084748_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    if timeline:
        (output / "trace_view.json").write_text(json.dumps(timeline_events(run, level=level)))
    _write_csv(output / "kernel_details.csv", *_kernel_details(run, level))
    _write_csv(output / "step_trace_time.csv", *_step_trace(run))
    _write_csv(output / "operator_memory.csv", *_operator_memory(run))
    _write_csv(output / "memory_record.csv", *_memory_record(run))
    header = ("Component", "Timestamp(us)", "Total Reserved(MB)", "Device")
    rows = [(s.component, stamp(s.ts_ns), _mb(s.reserved_bytes), f"NPU:{run.device}") for s in run.modules]
    _write_csv(output / "npu_module_mem.csv", header, rows)
    _write_csv(output / "op_statistic.csv", ("OP Type", "Core Type", "Count"), [("MatMulV2", "AI_CORE", 1)])
    if level:
        (output / "communication.json").write_text(json.dumps(communication_report(run)))
    (folder / f"profiler_info_{run.rank}.json").write_text(
        json.dumps({"rank_id": run.rank, "config": {"level": level}})
    )
    groups = {COMM_NAME: {"group_name": run.group_name, "group_rank": run.rank, "global_ranks": list(run.ranks)}}
    metadata = {"distributed_args": {"rank": run.rank, "world_size": 2}, "parallel_group_info": groups}
    (folder / "profiler_metadata.json").write_text(json.dumps(metadata))
    return folder


def stamp(ns: int) -> str:
    """A time in a CSV file: with a TAB behind it; empty for -1."""
    return "" if ns < 0 else us(ns) + "\t"


def communication_report(run: AscendRun) -> dict[str, Any]:
    """The content of ``communication.json``."""
    operators = {
        f"{op.name}@{GROUP_ID}": {
            "Communication Time Info": {
                "Start Timestamp(us)": float(us(op.start_ns)),
                "Elapse Time(ms)": op.dur_ns / 1e6,
                "Wait Time(ms)": 0.012,
            },
            "Communication Bandwidth Info": {
                "HCCS": {"Transit Size(MB)": 0.004, "Size Distribution": {"0.004": [1, 0.007]}}
            },
        }
        for op in run.comm_ops
    }
    return {f"step{run.step}": {"p2p": {}, "collective": operators}}


def _kernel_details(run: AscendRun, level: int) -> tuple[Sequence[str], list[Sequence[object]]]:
    rows: list[tuple[int, dict[str, object]]] = []
    for task in run.tasks:
        if task.op_type:
            row = {"Name": task.name, "Type": task.op_type, "Accelerator Core": task.core, "Task ID": task.task,
                   "Stream ID": task.stream, "Block Dim": task.blocks, "Input Shapes": task.shapes,
                   "Input Data Types": task.dtypes, "Input Formats": task.formats}  # fmt: skip
            rows.append((task.start_ns, {**row, **_times(task.start_ns, task.dur_ns, task.wait_ns)}))
    for op in run.comm_ops:
        row = {"Name": op.name, "Type": f"hcom_{op.op}_", "Accelerator Core": "HCCL", "Block Dim": 0}
        # the two files round the start of communication differently
        rows.append((op.start_ns, {**row, **_times(op.start_ns - 1, op.dur_ns, 0)}))
    short = [
        "Step Id",
        "Name",
        "Type",
        "Accelerator Core",
        "Start Time(us)",
        "Duration(us)",
        "Wait Time(us)",
        "Block Dim",
    ]
    header = ["Stream ID", "Task ID", *short, "Input Shapes", "Input Data Types", "Input Formats"] if level else short
    known = {} if level else {"Type": "N/A", "Accelerator Core": "N/A", "Block Dim": 0}
    lines = [{"Step Id": run.step, **row, **known} for _, row in sorted(rows, key=lambda item: item[0])]
    return header, [[line.get(name, "N/A") for name in header] for line in lines]


def _times(start: int, dur: int, wait: int) -> dict[str, object]:
    return {"Start Time(us)": stamp(start), "Duration(us)": dur / 1000, "Wait Time(us)": wait / 1000}


def _step_trace(run: AscendRun) -> tuple[Sequence[str], list[Sequence[object]]]:
    want = run.expected
    figures = {
        "Step": run.step, "Computing": want.computing_ns / 1000,
        "Communication(Not Overlapped)": want.not_overlapped_ns / 1000,
        "Overlapped": (want.communication_ns - want.not_overlapped_ns) / 1000,
        "Communication": want.communication_ns / 1000, "Free": want.free_ns / 1000,
    }  # fmt: skip
    return list(figures), [list(figures.values())]


def _operator_memory(run: AscendRun) -> tuple[Sequence[str], list[Sequence[object]]]:
    header = (
        "Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Allocation Total Allocated(MB)",
        "Allocation Total Reserved(MB)", "Release Total Allocated(MB)", "Release Total Reserved(MB)", "Device Type",
    )  # fmt: skip
    rows: list[Sequence[object]] = []
    for one in run.allocations:
        totals = [_mb(one.allocated_bytes), _mb(one.reserved_bytes)]
        sides = [*totals, "", ""] if one.allocate_ns >= 0 else ["", "", *totals]
        rows.append(
            (one.op, one.bytes / 1024, stamp(one.allocate_ns), stamp(one.release_ns), *sides, f"NPU:{run.device}")
        )
    return header, rows


def _memory_record(run: AscendRun) -> tuple[Sequence[str], list[Sequence[object]]]:
    header = (
        "Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)", "Stream Ptr",
        "Device Type",
    )  # fmt: skip
    rows = [
        (
            s.component,
            stamp(s.ts_ns),
            *map(_mb, (s.allocated_bytes, s.reserved_bytes, s.active_bytes)),
            "",
            f"NPU:{run.device}",
        )
        for s in run.samples
    ]
    return header, rows


def _mb(size: int) -> str:
    return "" if size < 0 else repr(size / 2**20)


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
