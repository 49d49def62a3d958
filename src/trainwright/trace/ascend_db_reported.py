"""What an Ascend database says about the run, and the tables that are kept as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.ascend_db_tables import AscendDb
from trainwright.trace.ascend_groups import Groups
from trainwright.trace.schema import table_name
from trainwright.trace.sqlite import Database

I64 = npt.NDArray[np.int64]

#: Tables that say something about the run as a whole; their rows become metadata.
_ABOUT = ("SESSION_TIME_INFO", "NPU_INFO", "HOST_INFO", "RANK_DEVICE_MAP")
#: Most rows of such a table that are kept as metadata.
MOST_ABOUT = 10_000
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_METADATA = "META_DATA"


def learn(db: AscendDb, groups: Groups, *, host: str | None, meta: bool) -> None:
    """Describe device and host, take the communication groups, and pour the metadata if it is wanted.

    Args:
        db: the database.
        groups: where communication groups go.
        host: host name where the database has none.
        meta: whether metadata is wanted.
    """
    about = {table: _records(db, table) for table in _ABOUT}
    values = {str(row.get("name")): _parsed(row.get("value")) for row in _records(db, _METADATA)}
    groups.learn(values)
    names = {row.get("id"): row.get("name") for row in about["NPU_INFO"]}
    on = next((row.get("deviceId") for row in about["RANK_DEVICE_MAP"]), None)
    device = names.get(on) or next(iter(names.values()), None)
    hosts = (row.get("hostName") for row in about["HOST_INFO"])
    db.sink.describe(
        device=str(device or "Ascend NPU"), host=str(next(filter(None, hosts), None) or host or "") or None
    )
    if meta:
        for key, value in values.items():
            db.sink.meta(f"profiler_metadata.{key}", value)
        for table, rows in about.items():
            if rows:
                db.sink.meta(table.lower(), rows)


def rank_in(database: Database) -> int | None:
    """The rank that the database names, None when it names none or several."""
    ranks = {
        int(rank)
        for batch in database.batches("RANK_DEVICE_MAP", ("rankId",))
        for rank in np.unique(batch.ints("rankId")[:MOST_ABOUT])
    }
    rank = ranks.pop() if len(ranks) == 1 else -1
    return rank if 0 <= rank < 2**31 else None


def _records(db: AscendDb, table: str) -> list[dict[str, Any]]:
    """The first rows of a small table."""
    found = db.database.find(table)
    rows: list[dict[str, Any]] = []
    for batch in db.batches(table, found.columns if found is not None else ()):
        columns = {name: batch.natural(name).to_pylist() for name in (found.columns if found is not None else ())}
        rows += [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        if len(rows) >= MOST_ABOUT:
            break
    return rows[:MOST_ABOUT]


def _parsed(value: object) -> object:
    """The content of JSON text, or the text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def pour_counters_of_tasks(db: AscendDb, task: I64, event: I64) -> None:
    """Keep ``TASK_PMU_INFO`` with names and with the ``event`` of the task.

    Args:
        db: the database.
        task: ids of all tasks, (N,).
        event: their event numbers, (N,).
    """
    order = np.argsort(task, kind="stable")
    for batch in db.batches("TASK_PMU_INFO", ("globalTaskId", "name", "value")):
        wanted = batch.ints("globalTaskId")
        at = np.minimum(np.searchsorted(task[order], wanted), max(len(task) - 1, 0))
        found = task[order[at]] == wanted if len(task) else np.zeros(batch.rows, np.bool_)
        columns = {
            "event": np.where(found, event[order[at]], -1) if len(task) else np.full(batch.rows, -1, np.int64),
            "globalTaskId": wanted,
            "name": db.names(batch, "name"),
            "value": batch.floats("value"),
        }
        db.sink.reported("task_pmu_info", columns, file=db.path)


def pour_rest(db: AscendDb) -> None:
    """Keep every table that belongs to no part of a rank. Lookup tables (``ENUM_*``) say nothing by themselves."""
    for table in list(db.database.tables.values()):
        if table.name.upper() not in db.poured and not table.name.upper().startswith("ENUM_"):
            pour_as_is(db, table.name, table.columns)


def pour_as_is(db: AscendDb, table: str, columns: Sequence[str]) -> None:
    """Keep a table with the names and values of the database."""
    parts = [{name: batch.natural(name) for name in columns} for batch in db.batches(table, columns)]
    if not parts:
        return
    types = {name: _common([part[name].type for part in parts]) for name in columns}
    name = reported_name(db.path, table)
    for part in parts:
        db.sink.events(len(next(iter(part.values()))))
        db.sink.reported(name, _cast(part, types), file=db.path)


def reported_name(path: Path, table: str) -> str:
    """``step_trace_time`` for ``StepTraceTime``, unless the text form beside it has a table of that name."""
    name = _HUMP.sub("_", table_name(table)).lower()
    return f"{table_name(path.stem)}_{name}" if path.with_name(f"{name}.csv").exists() else name


def _common(types: Sequence[pa.DataType]) -> pa.DataType:
    """The type that holds the values of all batches of a column."""
    known = [each for each in dict.fromkeys(types) if not pa.types.is_null(each)]
    if len(known) == 2 and pa.string() not in known:
        return pa.float64()
    return known[0] if len(known) == 1 else pa.string()


def _cast(columns: Mapping[str, pa.Array], types: Mapping[str, pa.DataType]) -> dict[str, pa.Array]:
    return {name: column.cast(types[name], safe=False) for name, column in columns.items()}
