"""Slices of the device in an Ascend database: tasks on streams, communication operators and their tasks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.ascend_capture import HARDWARE
from trainwright.trace.ascend_db_details import Details, communicating, computing, copying, kernel_rows, scheduling
from trainwright.trace.ascend_db_rows import Rows
from trainwright.trace.ascend_db_tables import AscendDb, Strings, said
from trainwright.trace.ascend_groups import group_key
from trainwright.trace.ascend_kernels import KernelRows
from trainwright.trace.sqlite_cells import Batch

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

_TASK = ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId", "taskId")
_OPERATOR = (
    "opName", "startNs", "endNs", "connectionId", "groupName", "dataType", "algType", "count", "deviceId", "opType",
)  # fmt: skip
COMMUNICATION = "Communication"


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """Slices on streams and communication operators, (N,) each.

    `number` is the connection id, `task` the id that tables of details use (-1 for operators), `row` the row in
    `Device.kernel_rows` (-1: none), `part` the row of a task that carries out a communication operator, `mark` the row
    of a mark of the user.
    """

    event: I64
    track: I64
    start: I64
    number: I64
    task: I64
    row: I64
    part: I64
    mark: I64


class _GroupRows:
    """The rows of communication groups: one for the operators of a group, and one for each of its planes below it."""

    def __init__(self, db: AscendDb, rows: Rows, parts: Details) -> None:
        self._rows = rows
        self._planes: dict[str, list[int]] = {}
        for batch in db.batches("COMMUNICATION_OP", ("groupName",)):
            for name in db.texts(batch, "groupName", said).unique().to_pylist():
                self._planes.setdefault(name or "", [])
        self.names: list[str] = []
        if len(parts):
            group, plane = parts.columns["group"], parts.columns["plane"]
            self.names = [name or "" for name in group.dictionary.to_pylist()] + [""]
            codes = group.indices.fill_null(-1).to_numpy(zero_copy_only=False).tolist()
            for code, number in sorted(set(zip(codes, plane.tolist(), strict=True))):
                known = self._planes.setdefault(self.names[code], [])
                if number >= 0:
                    known.append(number)
        above = np.cumsum([0, *(len(planes) + 1 for planes in self._planes.values())])
        self._above = dict(zip(self._planes, above.tolist(), strict=False))

    def of(self, group: str, device: int, plane: int | None = None) -> int:
        """The row of a group, or of one of its planes."""
        label = f"Group {group_key(group)} Communication" if group else COMMUNICATION
        below = 0 if plane is None else 1 + self._planes[group].index(plane)
        return self._rows.track(
            process=f"{COMMUNICATION} (NPU {device})", thread=label if plane is None else f"Plane {plane}",
            pid=f"{COMMUNICATION} {device}", tid=str(self._above[group] + below), side="device", device=device,
        )  # fmt: skip


class Device:
    """The device side of a database.

    Args:
        db: the database.
        rows: where slices go.
        marks: texts of marks by connection id; a task that carries one is the mark on the device.
    """

    def __init__(self, db: AscendDb, rows: Rows, marks: Strings) -> None:
        self._db = db
        self._rows = rows
        self._marks = marks
        self._compute = computing(db, rows.names)
        self._parts = communicating(db, rows.names)
        self._scheduled = scheduling(db, rows.names)
        self._copied = copying(db)
        self._groups = _GroupRows(db, rows, self._parts)
        self._tasks: list[tuple[I64, ...]] = []
        self._operator_types: list[pa.DictionaryArray] = []
        self.devices: set[int] = set()
        for batch in db.batches("TASK", _TASK):
            self._pour_tasks(batch)
        for batch in db.batches("COMMUNICATION_OP", _OPERATOR):
            self._pour_operators(batch)

    def kernel_rows(self) -> KernelRows | None:
        """What is known of computing tasks and communication operators; None when nothing says which tasks compute."""
        none = pa.array([], pa.string()).dictionary_encode()
        return kernel_rows(self._compute, pa.concat_arrays([none, *self._operator_types]))

    def tasks(self) -> Tasks:
        """What is known of all tasks and communication operators."""
        columns = zip(*self._tasks, strict=True) if self._tasks else [[np.empty(0, np.int64)]] * len(fields(Tasks))
        names = (field.name for field in fields(Tasks))
        return Tasks(**{name: np.concatenate(list(column)) for name, column in zip(names, columns, strict=True)})

    def _pour_tasks(self, batch: Batch) -> None:
        db = self._db
        batch, start, dur = db.spans(batch)
        task, device, stream = batch.ints("globalTaskId"), batch.ints("deviceId", 0), db.ids(batch, "streamId")
        number, task_type, task_id = db.ids(batch, "connectionId"), db.names(batch, "taskType"), db.ids(batch, "taskId")
        compute, part, copied = (details.find(task) for details in (self._compute, self._parts, self._copied))
        unknown = (compute < 0) & (part < 0) & (number >= 0)
        mark = np.where(unknown, self._marks.rows(number), -1)
        name = self._names(task, task_type, mark)
        size = self._copied.columns["size"][copied] if len(self._copied) else copied
        track = self._streams(device, stream)
        event = self._rows.add(track=track, start=start, dur=dur, name=name, task_type=task_type, number=number)
        self._rows.argue("tasks", event, {
            "Task Type": task_type, "Physic Stream Id": stream, "Task Id": task_id,
            "data size(Byte)": np.where(copied >= 0, size, -1),
        })  # fmt: skip
        self._tasks.append((event, track.astype(np.int64), start, number, task, compute, part, mark))
        if len(self._parts):
            inside = np.flatnonzero((part >= 0) & (self._parts.columns["plane"][part] >= 0))
            columns = (part, device, start, dur, stream, task_id)
            self._pour_parts(*(column[inside] for column in columns))

    def _names(self, task: I64, task_type: pa.Array, mark: I64) -> I32:
        """Names of tasks, (N,): of the operator, the mark, or the type."""
        name = self._rows.names.encode(task_type, len(task))
        marked = np.flatnonzero(mark >= 0)
        name[marked] = self._rows.names.encode(self._marks.texts(mark[marked]), len(marked))
        for details in (self._scheduled, self._compute):
            at = details.find(task)
            if len(details):
                name = np.where(at >= 0, details.columns["name"][at], name)
        return name

    def _streams(self, device: I64, stream: I64) -> I32:
        """Tracks of streams, (N,)."""
        distinct, at = np.unique(np.stack([device, stream]), axis=1, return_inverse=True)
        tracks = []
        for number, of in zip(*distinct.tolist(), strict=True):
            self.devices.add(number)
            process, thread, pid = f"{HARDWARE} (NPU {number})", f"Stream {of}", f"{HARDWARE} {number}"
            tracks.append(
                self._rows.track(
                    process=process, thread=thread, pid=pid, tid=str(of), side="device", stream=of, device=number
                )
            )
        return np.array(tracks, np.int32)[at.reshape(-1)]

    def _pour_parts(self, part: I64, device: I64, start: I64, dur: I64, stream: I64, task_id: I64) -> None:
        """Tasks of communication operators a second time, on the planes of their groups, as the text form has them."""
        columns: dict[str, Any] = {
            name: column[part] if isinstance(column, np.ndarray) else column.take(pa.array(part))
            for name, column in self._parts.columns.items()
        }
        group = columns["group"].indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        distinct, at = np.unique(np.stack([device, group, columns["plane"]]), axis=1, return_inverse=True)
        tracks = [
            self._groups.of(self._groups.names[code], on, plane)
            for on, code, plane in zip(*distinct.tolist(), strict=True)
        ]
        track = np.array(tracks, np.int32)[at.reshape(-1)]
        event = self._rows.add(track=track, start=start, dur=dur, name=columns["name"])
        names = self._rows.names.texts()
        types = pa.array([names[code] for code in columns["name"].tolist()], pa.string())
        self._rows.argue("links", event, {**columns, "task_type": types, "stream_id": stream, "task_id": task_id})

    def _pour_operators(self, batch: Batch) -> None:
        """``COMMUNICATION_OP``: whole operators, on the rows of their groups."""
        db = self._db
        batch, start, dur = db.spans(batch)
        device = batch.ints("deviceId", min(self.devices, default=0))
        groups = db.texts(batch, "groupName", said)
        words = [name or "" for name in groups.dictionary.to_pylist()] + [""]
        codes = groups.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        distinct, at = np.unique(np.stack([device, codes]), axis=1, return_inverse=True)
        tracks = [self._groups.of(words[code], on) for on, code in zip(*distinct.tolist(), strict=True)]
        track = np.array(tracks, np.int64)[at.reshape(-1)]
        number = db.ids(batch, "connectionId")
        event = self._rows.add(
            track=track.astype(np.int32), start=start, dur=dur, name=db.names(batch, "opName"), number=number
        )
        dtype, algorithm = db.enum(batch, "dataType", "ENUM_HCCL_DATA_TYPE"), db.texts(batch, "algType", said)
        arguments = {"data_type": dtype, "alg_type": algorithm, "count": db.ids(batch, "count")}
        self._rows.argue("comms", event, arguments)
        row = len(self._compute) + sum(map(len, self._operator_types)) + np.arange(batch.rows)
        self._operator_types.append(db.texts(batch, "opType", said))
        none = np.full(batch.rows, -1, np.int64)
        self._tasks.append((event, track, start, number, none, row, none, none))
