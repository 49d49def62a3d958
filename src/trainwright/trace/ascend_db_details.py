"""Details of device tasks in an Ascend database: tables that tell more about some of the rows of ``TASK``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.ascend_db_tables import AscendDb, said
from trainwright.trace.ascend_kernels import KernelRows
from trainwright.trace.columns import TextPool
from trainwright.trace.sqlite_cells import Batch

I64 = npt.NDArray[np.int64]

_TEXTS = {
    "op_type": "opType",
    "core": "taskType",
    "shapes": "inputShapes",
    "dtypes": "inputDataTypes",
    "formats": "inputFormats",
}


class Details:
    """A table of details, (N,) rows, held in memory by the id of the task they belong to: every task looks into it."""

    def __init__(self, parts: list[tuple[I64, dict[str, Any]]]) -> None:
        task = np.concatenate([np.empty(0, np.int64), *(ids for ids, _ in parts)])
        order = np.argsort(task, kind="stable")
        self._task = task[order]
        self.columns: dict[str, Any] = {}
        for name, first in parts[0][1].items() if parts else ():
            values = [columns[name] for _, columns in parts]
            if isinstance(first, np.ndarray):
                self.columns[name] = np.concatenate(values)[order]
            else:
                whole = pa.chunked_array(values).unify_dictionaries().combine_chunks()
                self.columns[name] = whole.take(pa.array(order))

    def __len__(self) -> int:
        return len(self._task)

    def find(self, task: I64) -> I64:
        """The row of each task, (M,); -1 for a task without details."""
        if not len(self._task):
            return np.full(len(task), -1, np.int64)
        at = np.minimum(np.searchsorted(self._task, task), len(self._task) - 1)
        return np.where((self._task[at] == task) & (task >= 0), at, -1)


def computing(db: AscendDb, names: TextPool) -> Details:
    """``COMPUTE_TASK_INFO``: the tasks that compute, by the columns of `trainwright.trace.ascend_kernels`."""
    columns = ("globalTaskId", "name", "blockDim", "waitNs", *_TEXTS.values())
    parts: list[tuple[I64, dict[str, Any]]] = []
    for batch in db.batches("COMPUTE_TASK_INFO", columns):
        texts = {name: db.texts(batch, column, said) for name, column in _TEXTS.items()}
        texts["core"] = texts["core"].cast(pa.string())  # the type of the task stands in for it where it is null
        name = names.encode(db.names(batch, "name"), batch.rows)
        numbers = {"name": name, "blocks": batch.ints("blockDim"), "wait": batch.ints("waitNs")}
        parts.append((batch.ints("globalTaskId"), {**numbers, **texts}))
    return Details(parts)


def kernel_rows(details: Details, communication: pa.DictionaryArray) -> KernelRows | None:
    """The computing tasks, then communication operators, as rows of an operator summary; None when there are none.

    Start, stream and so on are those of their slices.

    Args:
        details: the computing tasks, see `computing`.
        communication: operator types of the communication operators, (N,).
    """
    if not len(details):
        return None
    compute = _rows(len(details), details.columns)
    none = np.full(len(communication), -1, np.int64)
    columns: dict[str, Any] = dict.fromkeys(("blocks", "wait"), none)
    for name in _TEXTS:
        columns[name] = pa.nulls(len(communication), details.columns[name].type)
    columns |= {"name": none.astype(np.int32), "op_type": communication}
    columns["core"] = pa.array(["HCCL"] * len(communication), pa.string())
    return compute.and_also(_rows(len(communication), columns))


def _rows(count: int, columns: dict[str, Any]) -> KernelRows:
    none = np.full(count, -1, np.int64)
    return KernelRows(start=none, dur=none, stream=none, task=none, device=none, **columns)


def communicating(db: AscendDb, names: TextPool) -> Details:
    """``COMMUNICATION_TASK_INFO``: the tasks that carry out communication operators, and the links they use."""
    columns = (
        "globalTaskId", "taskType", "planeId", "groupName", "srcRank", "dstRank", "transportType", "size", "linkType",
        "bandwidth",
    )  # fmt: skip
    return Details([_link(db, batch, names) for batch in db.batches("COMMUNICATION_TASK_INFO", columns)])


def _link(db: AscendDb, batch: Batch, names: TextPool) -> tuple[I64, dict[str, Any]]:
    return batch.ints("globalTaskId"), {
        "name": names.encode(db.names(batch, "taskType"), batch.rows),
        "plane": db.ids(batch, "planeId"),
        "group": db.texts(batch, "groupName", said),
        "src rank": db.ids(batch, "srcRank"),
        "dst rank": db.ids(batch, "dstRank"),
        "size(Byte)": batch.ints("size"),
        "transport type": db.enum(batch, "transportType", "ENUM_HCCL_TRANSPORT_TYPE"),
        "link type": db.enum(batch, "linkType", "ENUM_HCCL_LINK_TYPE"),
        "bandwidth(GB/s)": batch.floats("bandwidth"),
    }


def scheduling(db: AscendDb, names: TextPool) -> Details:
    """``COMMUNICATION_SCHEDULE_TASK_INFO``: tasks that drive communication without being part of it."""
    columns = ("globalTaskId", "name")
    return Details(
        [
            (batch.ints("globalTaskId"), {"name": names.encode(db.names(batch, "name"), batch.rows)})
            for batch in db.batches("COMMUNICATION_SCHEDULE_TASK_INFO", columns)
        ]
    )


def copying(db: AscendDb) -> Details:
    """``MEMCPY_INFO``: how much a task copies."""
    columns = ("globalTaskId", "size")
    batches = db.batches("MEMCPY_INFO", columns)
    return Details([(batch.ints("globalTaskId"), {"size": batch.ints("size")}) for batch in batches])
