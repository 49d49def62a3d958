"""What old MindSpore profilers (MindInsight) call their files, processes and operators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from trainwright.trace.chrome import TrackPlace
from trainwright.trace.collective_names import parse_collective

#: Files with events, best first: one rank has one of them, or the step trace alone.
TIMELINES = ("ascend_timeline_display", "gpu_timeline_display", "cpu_timeline_display")
STEP_TRACE = "step_trace_raw"
#: Files that other profilers write too: they are taken along, but make no profile by themselves.
SHARED = ("profiler_info",)
#: Text files without a head: columns of numbers.
HEADLESS = (
    "device_queue_profiling", "dataset_iterator_profiling", "minddata_aicpu", "step_trace_profiling",
    "min_cycle_counter",
)  # fmt: skip
_REPORTS = (
    "ascend_timeline_summary", "gpu_timeline_summary", "cpu_timeline_summary", "hccl_raw", "framework_raw",
    "aicore_intermediate", "aicpu_intermediate", "pynative_op_intermediate", "op_intermediate", "gpu_op_detail_info",
    "gpu_op_type_info", "cpu_op_detail_info", "cpu_op_type_info", "gpu_activity_data", "gpu_framework", "flops",
    "flops_scope", "flops_summary", "minddata_pipeline_raw", "minddata_pipeline_summary", "minddata_cpu_utilization",
    "pipeline_profiling", "dynamic_shape_info", "parallel_strategy", "memory_usage_summary", "output_timeline_data",
    "output_op_compute_time", "output_op_compute_time_detail", "ascend_cluster_analyse", "gpu_cluster_analyse",
    "host_cpu_op_time", "communication_info",
)  # fmt: skip
_FILE = re.compile(
    rf"^(?P<kind>{'|'.join(sorted((*TIMELINES, STEP_TRACE, *SHARED, *HEADLESS, *_REPORTS), key=len, reverse=True))})"
    r"(?:_[a-z-]+_\d+_\d+)?_(?P<rank>\d{1,6})(?P<rest>_detail_time|_detail|_type)?\.(?:json|csv|txt)$"
)

#: Process ids of a timeline; smaller ones are device ids (MindSpore, base_timeline_generator).
_AI_CPU, _COMMUNICATION, _HOST_CPU, _OVERLAP, _GPU_ACTIVITY = "9000", "10000", "11000", "12000", "13000"
_FIRST_MADE_PID = 9000
_STEPS, _SCOPES = ("Steps", "100000"), ("Scope Name", "100001")
_HOST_ROWS = ("Ops", "GpuOps", "HostCpuOps", "Host CPU Op", "100002", "100003")

_COMM_OP = re.compile(
    r"(?:^|/)_?(AllReduce|AllGather|ReduceScatter|All[Tt]o[Aa]llv?|AllSwap|NeighborExchange(?:V2)?|Broadcast|Send|Receive)"
    r"(?:-op\d|\Z)"
)
_SYNC_OP = re.compile(r"(?:^|/)(?:StreamSend|StreamRecv|StreamSwitch|StreamActive)(?:-op\d|\Z)")
_ALL_TO_ALL = ("AllSwap", "NeighborExchange")


@dataclass(frozen=True, kw_only=True)
class ReportFile:
    """A file of a MindInsight ``profiler`` folder: what it is and whose. `table` is its name without the rank."""

    path: Path
    kind: str
    rank: int
    table: str


def report_file(path: Path) -> ReportFile | None:
    """What the name of a file says; None when it is no file of this profiler."""
    found = _FILE.match(path.name)
    if found is None:
        return None
    rest = (found["rest"] or "").removesuffix("_time")
    table = found["kind"] if found["kind"] == STEP_TRACE else found["kind"] + rest
    return ReportFile(path=path, kind=found["kind"], rank=int(found["rank"]), table=table)


def comm_op(name: str) -> str | None:
    """The canonical communication operator that an operator such as ``Default/AllReduce-op534`` is, else None."""
    found = _COMM_OP.search(name)
    if found is None:
        return None
    return "alltoall" if found.group(1).startswith(_ALL_TO_ALL) else parse_collective(found.group(1)).op


def device_op_kind(name: str) -> str:
    """Kind of an operator that ran on a device."""
    if comm_op(name):
        return "comm"
    return "sync" if _SYNC_OP.search(name) else "kernel"


def kind_of(process: str, thread: str, _cat: str, name: str) -> str:
    """Kind of a slice of a timeline by its process and thread, which are ids or labels."""
    if process == _OVERLAP or thread in _SCOPES:
        return "derived"
    if thread in _STEPS:
        return "step"
    if process == _COMMUNICATION:
        return "comm"
    if process == _HOST_CPU or thread in _HOST_ROWS:
        return "op"
    return device_op_kind(name)


def place(process: str, _thread: str, pid: str, tid: str, kind: str) -> TrackPlace:
    """A device is known by its process id; AI CPU, communication and activities name none."""
    if kind not in ("kernel", "comm", "sync") or process == _HOST_CPU:
        return TrackPlace()
    device = int(pid) if pid.isdecimal() and len(pid) < 5 and int(pid) < _FIRST_MADE_PID else -1
    return TrackPlace(side="device", stream=int(tid) if tid.isdecimal() and len(tid) < 19 else -1, device=device)


def core_of(pid: str) -> str:
    """The unit that ran the operators of a process."""
    return {_AI_CPU: "AI_CPU", _COMMUNICATION: "HCCL", _GPU_ACTIVITY: "GPU"}.get(pid, "")
