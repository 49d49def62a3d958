"""The run of `ascend_run` as a profiler's database: in the schema of today, an old one, and as a viewer leaves it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.trace.ascend_run import (
    COMM_NAME,
    EPOCH_NS,
    MAIN_THREAD,
    NO_MODEL,
    PID,
    QUEUE_THREAD,
    AscendRun,
    HostOp,
    Task,
)

API_TYPES = {5000: "runtime", 5500: "hccl", 10000: "node", 20000: "acl", 50001: "op", 50002: "queue", 50003: "trace"}
DATA_TYPES = {3: "FP16", 4: "FP32"}
TRANSPORTS = {0: "SDMA", 1: "RDMA", 2: "LOCAL", 65535: "INVALID_TYPE"}
LINKS = {0: "ON_CHIP", 1: "HCCS", 65535: "INVALID_TYPE"}
MODULES = {3: "HCCL", 45: "GE"}
Row = Sequence[object]


class _Strings:
    """Ids for texts, given out as they are asked for; far apart as in real files."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def of(self, text: str | None) -> int | None:
        """The id of a text; an empty one has none."""
        return self.ids.setdefault(text, len(self.ids) * 7 + (1 << 28)) if text else None


def write_database(parent: Path, run: AscendRun, *, old: bool = False, analysis: bool = True) -> Path:
    """The folder of a rank with a database and no text form; `old` is the schema of 2023."""
    folder = parent / f"node1_{PID + run.rank}_20250109084748_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    write_tables(output / f"ascend_pytorch_profiler_{run.rank}.db", run, old=old)
    if analysis:
        _write_analysis(output / "analysis.db", run)
    (folder / f"profiler_info_{run.rank}.json").write_text(json.dumps({"rank_id": run.rank}))
    return folder


def write_tables(path: Path, run: AscendRun, *, old: bool = False) -> None:
    """One database file."""
    strings = _Strings()
    with sqlite3.connect(path) as connection:
        _write_tasks(connection, run, strings, old=old)
        _write_host(connection, run, strings, old=old)
        _write_usage(connection, run, strings)
        _write_about(connection, run)
        enums = {"ENUM_API_TYPE": API_TYPES, "ENUM_MODULE": MODULES}
        if not old:
            enums |= {
                "ENUM_HCCL_DATA_TYPE": DATA_TYPES, "ENUM_HCCL_TRANSPORT_TYPE": TRANSPORTS, "ENUM_HCCL_LINK_TYPE": LINKS
            }  # fmt: skip
        for name, values in enums.items():
            table(connection, f"{name}(id INTEGER PRIMARY KEY, name TEXT)", values.items())
        table(
            connection,
            "STRING_IDS(id INTEGER PRIMARY KEY, value TEXT)",
            ((at, text) for text, at in strings.ids.items()),
        )
    connection.close()


def table(connection: sqlite3.Connection, head: str, rows: Iterable[Row]) -> None:
    """Make a table and fill it."""
    connection.execute(f"CREATE TABLE {head}")
    name, columns = head.split("(", 1)
    marks = ", ".join("?" * len(columns.split(",")))
    connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


def at(ns: int) -> int:
    """Epoch nanoseconds of a time of the run."""
    return EPOCH_NS + ns


def _write_tasks(connection: sqlite3.Connection, run: AscendRun, strings: _Strings, *, old: bool) -> None:
    times, key, blocks = ("startNs INTEGER, endNs INTEGER", "globalTaskId", "blockDim")
    if old:
        times, key, blocks = ("start TEXT, end TEXT", "correlationId", "block_dim")
    of = strings.of
    table(
        connection,
        f"TASK({times}, deviceId, connectionId, {key}, globalPid, taskType, contextId, streamId, taskId, modelId)",
        [
            (*_span(one.start_ns, one.dur_ns, text=old), run.device, one.connection, number, PID, of(_type(one)),
             one.subtask, one.stream, one.task, NO_MODEL)
            for number, one in enumerate(run.tasks)
        ],
    )  # fmt: skip
    table(
        connection,
        f"COMPUTE_TASK_INFO(name, {key} INTEGER PRIMARY KEY, {blocks}, mixBlockDim, taskType, opType, inputFormats, "
        "inputDataTypes, inputShapes, outputFormats, outputDataTypes, outputShapes)",
        [
            (of(one.name), number, one.blocks, 0, of(one.core), of(one.op_type), of(one.formats), of(one.dtypes),
             of(one.shapes), of("N/A"), of("N/A"), of("N/A"))
            for number, one in enumerate(run.tasks) if one.op_type
        ],
    )  # fmt: skip
    sizes = [(number, one.bytes, 0) for number, one in enumerate(run.tasks) if one.bytes >= 0]
    table(connection, f"MEMCPY_INFO({key}, size, memcpyOperation)", sizes)
    names = [DATA_TYPES, TRANSPORTS, LINKS]
    dtype, transport, link = (({text: of(text) if old else number for number, text in each.items()}) for each in names)
    table(
        connection,
        "COMMUNICATION_OP(opName, startNs INTEGER, endNs INTEGER, connectionId, groupName, opId INTEGER PRIMARY KEY, "
        "relay, retry, dataType, algType, count NUMERIC, opType)",
        [
            (of(one.name), *_span(one.start_ns, one.dur_ns), one.connection, of(COMM_NAME), one.index, 0, 0,
             dtype[one.dtype], of(one.algorithm), one.count, of(f"hcom_{one.op}_"))
            for one in run.comm_ops
        ],
    )  # fmt: skip
    numbers = {(one.stream, one.task, one.start_ns): number for number, one in enumerate(run.tasks)}
    table(
        connection,
        f"COMMUNICATION_TASK_INFO(name, {key}, taskType, planeId, groupName, notifyId, rdmaType, srcRank, dstRank, "
        "transportType, size, dataType, linkType, opId, bandwidth)",
        [
            (of("allReduce"), numbers[one.stream, one.task, one.start_ns], of(one.name), one.plane, of(COMM_NAME), 0,
             65535, one.src, one.dst, transport[one.transport], one.bytes, dtype["FP32"], link[one.link], 0,
             one.bandwidth)
            for one in run.comm_tasks
        ],
    )  # fmt: skip


def _type(task: Task) -> str:
    """Type of a task as ``TASK`` has it: that of an operator is its unit, any other task is named after its type."""
    return "KERNEL_AICORE" if task.op_type else task.name


def _span(start: int, dur: int, *, text: bool = False) -> tuple[object, object]:
    first, last = at(start), at(start + dur)
    return (str(first), str(last)) if text else (first, last)


def _write_host(connection: sqlite3.Connection, run: AscendRun, strings: _Strings, *, old: bool) -> None:
    of, levels = strings.of, {name: number for number, name in API_TYPES.items()}
    table(
        connection,
        f"{'API' if old else 'CANN_API'}(startNs, endNs, type, globalTid, connectionId INTEGER PRIMARY KEY, name)",
        [
            (*_span(call.start_ns, call.dur_ns), levels[call.level], _tid(call.thread), call.connection,
             of(call.name.partition("@")[2]))
            for call in run.calls
        ],
    )  # fmt: skip
    rows: list[Row] = []
    chains: list[Row] = []
    joins: list[Row] = []
    marked = HostOp(name=f"ProfilerStep#{run.step}", start_ns=run.step_start_ns, dur_ns=run.step_dur_ns)
    for op in (marked, *run.host_ops):
        is_op = op.category == "cpu_op"
        # the exporter joins operators with launches of the level "node"; it leaves copies out
        launched = {task.connection for task in (*run.tasks, *run.comm_ops) if task.launched_by == op.name}
        nodes = sorted(launched & {call.connection for call in run.calls if call.level == "node"})
        number = len(rows) if nodes else None
        joins += [(number, connection_id) for connection_id in nodes]
        chain = len(chains) if op.stack else None
        chains += [(chain, of(line), depth) for depth, line in enumerate(op.stack.split(";\r\n")) if op.stack]
        rows.append(
            (*_span(op.start_ns, op.dur_ns, text=True), _tid(op.thread), number, of(op.name),
             op.sequence if is_op else None, 0 if is_op else None, of(op.dtypes), of(op.shapes), chain,
             levels["op" if is_op else "trace"])
        )  # fmt: skip
    for entry in run.queue:
        ends = (
            ("Enqueue", MAIN_THREAD, entry.enqueue_ns, entry.enqueue_dur_ns),
            (entry.name, QUEUE_THREAD, entry.dequeue_ns, entry.dequeue_dur_ns),
        )
        for name, thread, start, dur in ends:
            joins.append((len(rows), entry.correlation))
            span = _span(start, dur, text=True)
            rows.append((*span, _tid(thread), len(rows), of(name), None, None, None, None, None, levels["queue"]))
    table(
        connection,
        "PYTORCH_API(startNs TEXT, endNs TEXT, globalTid, connectionId, name, sequenceNumber, fwdThreadId, "
        "inputDtypes, inputShapes, callchainId, type)",
        rows,
    )
    table(connection, "PYTORCH_CALLCHAINS(id, stack, stackDepth)", chains)
    table(connection, "CONNECTION_IDS(id, connectionId)", joins)
    step = (run.step, *_span(run.step_start_ns, run.step_dur_ns))
    table(connection, "STEP_TIME(id, startNs, endNs)", [step])


def _tid(thread: int) -> int:
    return PID << 32 | thread


def _write_usage(connection: sqlite3.Connection, run: AscendRun, strings: _Strings) -> None:
    of = strings.of
    table(
        connection,
        "MEMORY_RECORD(component, timestamp, totalAllocated, totalReserved, totalActive, streamPtr, deviceId)",
        [
            (of(one.component), at(one.ts_ns), *map(_size, (one.allocated_bytes, one.reserved_bytes, one.active_bytes)),
             None, run.device)
            for one in run.samples
        ],
    )  # fmt: skip
    modules = {name: number for number, name in MODULES.items()}
    rows = [(modules[one.component], at(one.ts_ns), one.reserved_bytes, run.device) for one in run.modules]
    table(connection, "NPU_MODULE_MEM(moduleId, timestampNs, totalReserved NUMERIC, deviceId)", rows)
    allocations: list[Row] = []
    for one in run.allocations:
        times = (_time(one.allocate_ns), _time(one.release_ns))
        totals = (one.allocated_bytes, one.reserved_bytes)
        sides = (*totals, None, None) if one.allocate_ns >= 0 else (None, None, *totals)
        allocations.append((of(one.op), one.bytes, *times, *sides, run.device))
    table(
        connection,
        "OP_MEMORY(name, size, allocationTime, releaseTime, allocationTotalAllocated, allocationTotalReserved, "
        "releaseTotalAllocated, releaseTotalReserved, deviceId)",
        allocations,
    )
    table(
        connection,
        "AICORE_FREQ(deviceId, timestampNs NUMERIC, freq)",
        [(run.device, at(one.ts_ns), one.value) for one in run.counters],
    )


def _size(size: int) -> int | None:
    return None if size < 0 else size


def _time(ns: int) -> int | None:
    return None if ns < 0 else at(ns)


def _write_about(connection: sqlite3.Connection, run: AscendRun) -> None:
    groups = {COMM_NAME: {"group_name": run.group_name, "group_rank": run.rank, "global_ranks": list(run.ranks)}}
    table(
        connection,
        "META_DATA(name TEXT, value TEXT)",
        [("SCHEMA_VERSION", "1.0.0"), ("parallel_group_info", json.dumps(groups))],
    )
    table(connection, "RANK_DEVICE_MAP(rankId, deviceId)", [(run.rank, run.device)])
    table(connection, "NPU_INFO(id, name)", [(run.device + 1, "Ascend310"), (run.device, "Ascend910B")])
    table(connection, "HOST_INFO(hostUid TEXT, hostName TEXT)", [("17", "node1")])
    table(connection, "SESSION_TIME_INFO(startTimeNs, endTimeNs)", [(at(0), at(100_000))])


def _write_analysis(path: Path, run: AscendRun) -> None:
    want = run.expected
    figures = (
        want.computing_ns, want.not_overlapped_ns, want.communication_ns - want.not_overlapped_ns,
        want.communication_ns, want.free_ns,
    )  # fmt: skip
    with sqlite3.connect(path) as connection:
        table(
            connection,
            "StepTraceTime(step TEXT, computing, communication_not_overlapped, overlapped, communication, free)",
            [(str(run.step), *(figure / 1000 for figure in figures))],
        )
    connection.close()


def alter(path: Path) -> None:
    """Change a database as a viewer does that keeps its own results in it."""
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE TASK ADD COLUMN depth INTEGER")
        connection.execute("UPDATE TASK SET depth = 0")
        connection.execute("ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN waitNs INTEGER")
        connection.execute("UPDATE COMPUTE_TASK_INFO SET waitNs = 2000 WHERE globalTaskId = 1")
        table(connection, "OVERLAP_ANALYSIS(deviceId, startNs, endNs, type)", [(0, at(10_000), at(30_000), 0)])
        table(connection, "status_info(id, key TEXT, value TEXT)", [(1, "WAIT_TIME_STATUS", "FINISH")])
        connection.execute("CREATE INDEX task_start ON TASK(startNs)")
    connection.close()
