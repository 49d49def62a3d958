"""The columns of the trace store: one declaration for readers, store, SQL and documentation.

All readers write these tables, whatever the format they read. Times are int64 nanoseconds on the clock of the
source (epoch where the source has one), sizes int64 bytes, ids int64 or text. ``-1`` stands for "not recorded" in
id columns, null in text columns. An *event* is one record of the source; its number is unique within the rank and
joins the tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["i64", "i32", "i16", "f64", "bool", "text"]

#: What a slice is. Readers translate every format into these, so analyses never look at format specific names.
KINDS: dict[str, str] = {
    "op": "operator called on the host (aten::mm, ...)",
    "python": "Python function on the host",
    "annotation": "range marked by the user or the framework",
    "step": "one training step (ProfilerStep#N)",
    "runtime": "runtime or driver call on the host (cudaLaunchKernel, AscendCL@..., node launch)",
    "queue": "enqueue or dequeue of an asynchronous launch queue on the host",
    "dataloader": "waiting for the next batch on the host",
    "gc": "garbage collection on the host",
    "overhead": "time the profiler itself took",
    "kernel": "compute task on the device",
    "comm": "communication operator (the whole collective or p2p transfer)",
    "comm_task": "one task inside a communication operator (a notify wait, a memcpy over a link, a reduce)",
    "memcpy": "memory copy on the device",
    "memset": "memory fill on the device",
    "sync": "device-side wait (stream waits for an event, notify wait outside a communication operator)",
    "device_annotation": "host range projected on the device",
    "derived": "drawn by the source tool out of other events (Overlap Analysis); never counted as work",
    "other": "anything else",
}

#: Kinds whose slices run on the accelerator (``comm`` may also be on the host: gloo).
DEVICE_KINDS = ("kernel", "comm", "comm_task", "memcpy", "memset", "sync", "device_annotation")


@dataclass(frozen=True, kw_only=True)
class ColumnSchema:
    """One stored column. `default` fills rows whose reader gave no value."""

    name: str
    type: ColumnType
    help: str
    default: int | float | bool | None = None


@dataclass(frozen=True, kw_only=True)
class TableSchema:
    """One stored table."""

    name: str
    help: str
    columns: tuple[ColumnSchema, ...]

    def column(self, name: str) -> ColumnSchema:
        """The declared column; a `KeyError` when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name} has no column {name}")


def _i64(name: str, text: str, default: int = -1) -> ColumnSchema:
    return ColumnSchema(name=name, type="i64", help=text, default=default)


def _i32(name: str, text: str, default: int = -1) -> ColumnSchema:
    return ColumnSchema(name=name, type="i32", help=text, default=default)


def _text(name: str, text: str) -> ColumnSchema:
    return ColumnSchema(name=name, type="text", help=text)


def _f64(name: str, text: str) -> ColumnSchema:
    return ColumnSchema(name=name, type="f64", help=text)


_EVENT = _i32("event", "number of the event in the rank's sources")
_TRACK = _i32("track", "row of `tracks`")

_TABLES = (
    TableSchema(
        name="slices",
        help="everything with a start and a duration, sorted by (lane, start)",
        columns=(
            _EVENT,
            _i32("lane", "row of `lanes`: (track, depth); slices of a lane never overlap"),
            _i32("parent", "row in `slices` of the enclosing slice of the same track, -1 at top level"),
            _i64("start_ns", "start", 0),
            _i64("dur_ns", "duration", 0),
            _i64("self_ns", "duration minus that of the slices directly inside", 0),
            _text("name", "name"),
            _text("kind", "one of the kinds of `trainwright.trace.schema.KINDS`"),
            _i64("link", "id shared by a host launch and what it launched (CUDA correlation, Ascend connection id)"),
        ),
    ),
    TableSchema(
        name="tracks",
        help="the rows of the source: a host thread, a device stream, a communication group, a counter group",
        columns=(
            _text("process", "process label"),
            _text("thread", "thread, stream or group label"),
            _text("pid", "process id as the source writes it"),
            _text("tid", "thread id as the source writes it"),
            _text("side", "host or device"),
            _i64("stream", "device stream, -1 on the host"),
            _i32("device", "device id, -1 on the host"),
            _i32("sort", "drawing order the source asks for", 0),
        ),
    ),
    TableSchema(
        name="lanes",
        help="(track, depth) with its row range in `slices`",
        columns=(
            _TRACK,
            _i32("depth", "nesting depth, or sub-row of overlapping events"),
            _i64("first", "first row in `slices`", 0),
            _i64("count", "number of slices", 0),
            ColumnSchema(
                name="overlapping",
                type="bool",
                help="events of this track overlapped where they should nest; depth is a sub-row, not nesting",
                default=False,
            ),
        ),
    ),
    TableSchema(
        name="ops",
        help="details of host operators",
        columns=(
            _EVENT,
            _i64("external_id", "id that kernels carry to name their operator"),
            _i64("sequence", "autograd sequence number joining forward and backward"),
            _i64("fwd_thread", "thread of the forward operator, for backward operators", 0),
            _text("shapes", "input shapes as the source writes them"),
            _text("dtypes", "input types as the source writes them"),
            _text("stack", "call stack, innermost first, one frame per line"),
            _text("module", "module path, where recorded"),
        ),
    ),
    TableSchema(
        name="kernels",
        help="details of device tasks (kernel, memcpy, memset, comm)",
        columns=(
            _EVENT,
            _i64("stream", "device stream"),
            _i32("device", "device id"),
            _i64("external_id", "id of the operator that launched it"),
            _text("op_type", "operator type (MatMul, ...)"),
            _text("core_type", "unit that ran it (AI_CORE, AI_VECTOR_CORE, AI_CPU, MIX_AIC, HCCL, GPU, ...)"),
            _text("shapes", "input shapes"),
            _text("dtypes", "input types"),
            _text("formats", "input formats"),
            _i32("blocks", "blocks or cores used"),
            _i64("bytes", "bytes moved by a copy"),
            _i64("wait_ns", "gap before the task as the source gives it"),
            _i64("task", "task id"),
        ),
    ),
    TableSchema(
        name="collectives",
        help="details of communication operators, one row per `comm` slice",
        columns=(
            _EVENT,
            _text("group", "communication group, as named across ranks where the source allows"),
            _i64("seq", "number of the operator within its group, counted by the source"),
            _text("op", "allreduce, allgather, reducescatter, alltoall, broadcast, reduce, send, recv, ..."),
            _text("dtype", "element type"),
            _i64("bytes", "message size per rank (the larger of input and output)"),
            _i32("group_size", "ranks in the group"),
            _i32("peer", "peer rank of a p2p operator"),
            _text("algorithm", "algorithm the library chose"),
        ),
    ),
    TableSchema(
        name="links",
        help="details of communication tasks: which link carried what",
        columns=(
            _EVENT,
            _text("group", "communication group"),
            _i32("src", "source rank (in the group)"),
            _i32("dst", "destination rank (in the group)"),
            _text("transport", "HCCS, RDMA, SDMA, PCIE, LOCAL, ..."),
            _i64("bytes", "bytes carried"),
            _text("plane", "plane or link row"),
            _f64("bandwidth", "bandwidth as the source gives it, GB/s"),
        ),
    ),
    TableSchema(
        name="groups",
        help="communication groups",
        columns=(
            _text("group", "group id as `collectives` writes it"),
            _text("name", "what the group is for (tp, dp, pp, default_group, ...)"),
            _i32("size", "number of ranks"),
            _text("ranks", "global ranks as JSON list"),
        ),
    ),
    TableSchema(
        name="flows",
        help="arrows between events as the source draws them",
        columns=(
            _EVENT,
            _text("category", "ac2g, fwdbwd, async_npu, HostToDevice, ..."),
            _i64("id", "flow id (may be above 2^53); -1 where it is no number"),
            _text("id_text", "flow id that is no number"),
            _text("phase", "s (start), t (step) or f (end)"),
            _TRACK,
            _i64("ts_ns", "time", 0),
        ),
    ),
    TableSchema(
        name="instants",
        help="events without a duration",
        columns=(_EVENT, _TRACK, _i64("ts_ns", "time", 0), _text("name", "name"), _text("category", "category")),
    ),
    TableSchema(
        name="counters",
        help="sampled values (HBM bandwidth, AI Core frequency, ...)",
        columns=(
            _EVENT,
            _TRACK,
            _i64("ts_ns", "time", 0),
            _text("name", "counter"),
            _text("series", "series in the counter"),
            _f64("value", "value in the unit of the source"),
        ),
    ),
    TableSchema(
        name="memory_events",
        help="single allocations and releases of the framework's allocator",
        columns=(
            _EVENT,
            _i64("ts_ns", "time of the allocation or release", 0),
            _text("device", "cpu, cuda:0, npu:0, ..."),
            _i64("address", "address"),
            _i64("bytes", "bytes; negative for a release", 0),
            _i64("allocated_bytes", "allocated after the event"),
            _i64("reserved_bytes", "reserved after the event"),
            _text("op", "operator that allocated, where recorded"),
            _i64("release_ns", "release time of an allocation where the source pairs them, else -1"),
        ),
    ),
    TableSchema(
        name="memory_usage",
        help="sampled memory totals",
        columns=(
            _i64("ts_ns", "time", 0),
            _text("device", "device"),
            _text("component", "PTA, GE, APP, WORKSPACE, ..."),
            _i64("allocated_bytes", "allocated"),
            _i64("reserved_bytes", "reserved"),
            _i64("active_bytes", "active"),
        ),
    ),
    TableSchema(
        name="steps",
        help="training steps",
        columns=(
            _i64("step", "step number"),
            _i64("start_ns", "start", 0),
            _i64("end_ns", "end", 0),
            _text("origin", "marked (by the profiler), periodic (found by repetition) or whole (one synthetic step)"),
        ),
    ),
    TableSchema(
        name="origin",
        help="where each event stands in its source, for arguments fetched on demand",
        columns=(
            _EVENT,
            ColumnSchema(name="file", type="i16", help="number of the source file in the manifest", default=-1),
            _i64("offset", "byte offset in the (unpacked) file"),
            _i32("size", "length in bytes"),
        ),
    ),
    TableSchema(
        name="meta",
        help="what the source says about the run, as JSON text",
        columns=(_text("key", "dotted key"), _text("value", "JSON text")),
    ),
    TableSchema(
        name="lod",
        help="level-of-detail pyramid of `slices`, sorted by (level, lane, start)",
        columns=(
            ColumnSchema(
                name="level", type="i16", help="bins of this level are LOD_BASE_NS * 4**level wide", default=0
            ),
            _i32("lane", "row of `lanes`"),
            _i64("start_ns", "start of the first event", 0),
            _i64("end_ns", "end of the last event", 0),
            _i64("busy_ns", "time covered by the events", 0),
            _i32("count", "events merged; 1 is an event by itself", 1),
            _i32("row", "row in `slices` of the longest event merged"),
        ),
    ),
    TableSchema(
        name="names",
        help="every slice name with its rows in `postings`",
        columns=(
            _text("name", "name"),
            _i64("first", "first row in `postings`", 0),
            _i64("count", "number of slices", 0),
            _i64("total_ns", "summed duration", 0),
        ),
    ),
    TableSchema(
        name="postings",
        help="rows of `slices` grouped by name, by start within a name",
        columns=(_i32("row", "row of `slices`"),),
    ),
)

TABLES: dict[str, TableSchema] = {table.name: table for table in _TABLES}

#: Tables the store derives; readers never write them.
DERIVED_TABLES = ("lanes", "lod", "names", "postings")


def table_name(text: str) -> str:
    """A name from the user's files in letters that are safe in SQL and in a file name."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)[:100]
