"""Pour the databases of one rank, and tell which database is what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from trainwright.core.errors import InputError
from trainwright.trace.ascend_capture import Capture
from trainwright.trace.ascend_db_device import Device, Tasks
from trainwright.trace.ascend_db_host import Connections, Framework, pour_calls, pour_garbage_collection, pour_marks
from trainwright.trace.ascend_db_launches import find_arrows
from trainwright.trace.ascend_db_reported import learn, pour_as_is, pour_counters_of_tasks, pour_rest, rank_in
from trainwright.trace.ascend_db_rows import Rows
from trainwright.trace.ascend_db_tables import RENAMED, AscendDb
from trainwright.trace.ascend_db_usage import COUNTER_TABLES, MEMORY_TABLES, pour_counters, pour_memory
from trainwright.trace.ascend_groups import Groups
from trainwright.trace.ascend_kinds import KindColumn, slice_kinds
from trainwright.trace.ascend_operators import operators_of
from trainwright.trace.ascend_tables import host_of
from trainwright.trace.ascend_timeline import pour_joined
from trainwright.trace.reader import RankSource, Sink
from trainwright.trace.sqlite import Database

I64 = npt.NDArray[np.int64]

MAIN, ANALYSIS, MEMSCOPE, BROKEN = "main", "analysis", "memscope", "broken"
#: Tables of which any makes a database with texts the profile of a rank.
_MAIN_TABLES = (
    "TASK", "CANN_API", "PYTORCH_API", "COMMUNICATION_OP", "COMPUTE_TASK_INFO", "MSTX_EVENTS", "MEMORY_RECORD",
    "NPU_MEM", "HBM", "NPU_INFO", "SESSION_TIME_INFO",
)  # fmt: skip
_EVENT_TABLES = (
    "TASK", "CANN_API", "PYTORCH_API", "PYTORCH_CALLCHAINS", "CONNECTION_IDS", "COMMUNICATION_OP", "COMPUTE_TASK_INFO",
    "COMMUNICATION_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO", "MEMCPY_INFO", "MSTX_EVENTS", "GC_RECORD",
    "STEP_TIME",
)  # fmt: skip
_ANALYSIS_TABLES = ("StepTraceTime", "CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix")


def kind_of(path: Path) -> tuple[str, int | None]:
    """What a SQLite file is (empty: nothing known), and the rank that it names, None for none."""
    try:
        with Database(path, _quiet, RENAMED) as database:
            if database.find("STRING_IDS") and any(database.find(table) for table in _MAIN_TABLES):
                return MAIN, rank_in(database)
            if any(database.find(table) for table in _ANALYSIS_TABLES):
                return ANALYSIS, None
            return MEMSCOPE if database.find("memscope_dump") else "", None
    except InputError:
        return BROKEN, None


def _quiet(_code: str, _count: int, _example: str) -> None:
    """Damage is reported when the file is read, not when it is recognised."""


def pour_run(path: Path, source: RankSource, groups: Groups, sink: Sink) -> None:
    """Pour the database of a rank.

    Raises:
        InputError: it cannot be read.
    """
    with AscendDb(path, sink) as db:
        learn(db, groups, host=host_of(source), meta=source.wants("meta"))
        if source.wants("events"):
            tasks = _pour_events(db, groups)
            if source.wants("reported"):
                pour_counters_of_tasks(db, tasks.task, tasks.event)
        if source.wants("counters"):
            pour_counters(db)
        if source.wants("memory"):
            pour_memory(db)
        if source.wants("reported"):
            db.leave_out(*_EVENT_TABLES, *COUNTER_TABLES, *(MEMORY_TABLES if not source.wants("memory") else ()))
            pour_rest(db)
    sink.progress(path.stat().st_size, path.stat().st_size)


def pour_analysis(path: Path, sink: Sink) -> None:
    """Keep the tables of ``analysis.db`` as they are: the profiler's own step times and communication statistics.

    Raises:
        InputError: it cannot be read.
    """
    with AscendDb(path, sink) as db:
        for table in db.database.tables.values():
            pour_as_is(db, table.name, table.columns)


def _pour_events(db: AscendDb, groups: Groups) -> Tasks:
    """Pour everything that is joined by event numbers, and the steps; what became of the tasks."""
    rows = Rows(db.sink)
    connections = Connections(db)
    framework = Framework(db, rows, connections)
    calls = pour_calls(db, rows)
    marks = pour_marks(db, rows)
    pour_garbage_collection(db, rows)
    device = Device(db, rows, marks)
    tasks = device.tasks()
    capture = rows.capture(find_arrows(framework, connections, calls, tasks, db.sink))
    at = np.searchsorted(capture.event, tasks.event)
    matched = np.full(len(capture.event), -1, np.int64)
    matched[at] = tasks.row
    details = device.kernel_rows()
    operators = None if details is None else operators_of(details, rows.names.texts(), db.path)
    pour_joined(capture, _kinds(capture, tasks, at, named=operators is not None), matched, operators, groups, db.sink)
    if len(device.devices) > 1:
        example = f"devices {', '.join(map(str, sorted(device.devices)))} are one rank here: export them one by one"
        db.sink.quality("several-devices", count=len(device.devices), example=example, file=db.path)
    for table in ("slices", "kernels", "collectives"):
        db.sink.used(table, db.path)
    return tasks


def _kinds(capture: Capture, tasks: Tasks, at: I64, *, named: bool) -> KindColumn:
    """Kinds of all slices; `at`, (M,), are the rows of the tasks.

    Args:
        capture: the slices.
        tasks: what is known of tasks.
        at: rows of the tasks in the capture, (M,).
        named: whether the database names the tasks that compute. Then others do not, whatever unit they occupy: the
            frame around the parts of a task, and the parts that a mixed task has on its second unit.
    """
    kinds = slice_kinds(capture)
    idle = (tasks.row < 0) & kinds.among("kernel")[at]
    if named:
        kinds.codes[at[idle]] = KindColumn.code("other")
    kinds.codes[at[tasks.part >= 0]] = KindColumn.code("comm_task")
    kinds.codes[at[tasks.mark >= 0]] = KindColumn.code("device_annotation")
    return kinds
