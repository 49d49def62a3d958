"""Tell what every slice of an Ascend timeline is: by the row it stands on, its category, its task type and its name."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.ascend_capture import COMM_LAYERS, HARDWARE, Capture, Track
from trainwright.trace.ascend_names import device_kind, framework_kind, is_hcom
from trainwright.trace.schema import KINDS

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_KIND_NAMES = tuple(KINDS)
_KIND_OF_LAYER = {"CANN": "runtime", "Python GC": "gc", "GC": "gc", "Overlap Analysis": "derived"}
_FRAMEWORKS = ("Python", "PyTorch", "MindSpore", "Framework", "Scope Layer")
_CALL = re.compile(r"^(?:AscendCL|Runtime|Node|Model|Hccl|ACL|Hcom)@")
#: Kinds that a part of a communication operator may look like on its hardware stream.
_MIRRORED = ("memcpy", "sync", "memset")


@dataclass(frozen=True, kw_only=True)
class KindColumn:
    """Kinds of slices, (N,): `codes` are positions in the kinds of the schema."""

    codes: npt.NDArray[np.int8]

    @staticmethod
    def code(kind: str) -> int:
        """The code of a kind."""
        return _KIND_NAMES.index(kind)

    def among(self, *kinds: str) -> Bool:
        """Mask, (N,), of the slices of these kinds."""
        return np.isin(self.codes, [self.code(kind) for kind in kinds])

    def arrow(self) -> pa.DictionaryArray:
        """The column as Arrow text."""
        return pa.DictionaryArray.from_arrays(pa.array(self.codes), pa.array(_KIND_NAMES))


def slice_kinds(capture: Capture) -> KindColumn:
    """The kind of every slice. Each combination of row, category, type and name is looked at once."""
    place = _number(_number(capture.track, capture.category), capture.task_type)
    _, first, inverse = np.unique(_number(place, capture.name), return_index=True, return_inverse=True)
    names = capture.names.texts()
    codes = np.empty(len(first), np.int8)
    for at, row in enumerate(first.tolist()):
        kind = _kind(
            capture.tracks[int(capture.track[row])],
            _text(capture.categories, int(capture.category[row])),
            _text(capture.task_types, int(capture.task_type[row])),
            _text(names, int(capture.name[row])),
        )
        codes[at] = KindColumn.code(kind)
    kinds = KindColumn(codes=codes[inverse.reshape(-1)])
    kinds.codes[_parts_of_communication(capture, kinds)] = KindColumn.code("comm_task")
    return kinds


def _kind(track: Track, category: str, task_type: str, name: str) -> str:
    layer = track.layer
    if layer in COMM_LAYERS:
        return "comm" if "Communication" in track.thread or is_hcom(name) else "comm_task"
    if layer == HARDWARE or task_type:
        return device_kind(task_type, name)
    if layer in _KIND_OF_LAYER:
        return _KIND_OF_LAYER[layer]
    if _CALL.match(name):  # a row without label
        return "runtime"
    if layer in _FRAMEWORKS or category:
        return framework_kind(category, name)
    return "comm" if is_hcom(name) else "other"


def _parts_of_communication(capture: Capture, kinds: KindColumn) -> I64:
    """Slices of hardware streams that show a part of a communication operator a second time."""
    parts = _task_keys(capture.links["stream_id"], capture.links["task_id"])
    stream = capture.tasks["Physic Stream Id"].combine_chunks()
    tasks = _task_keys(stream.fill_null(-1), capture.tasks["Task Id"])
    events = capture.tasks["event"].to_numpy()[np.isin(tasks, parts[parts >= 0])]
    return np.flatnonzero(np.isin(capture.event, events) & kinds.among(*_MIRRORED))


def _task_keys(stream: pa.Array, task: pa.Array) -> I64:
    """One number for stream and task, -1 where one of them is missing."""
    stream_id, task_id = (np.asarray(column.fill_null(-1).to_numpy(), np.int64) for column in (stream, task))
    known = (stream_id >= 0) & (stream_id < 1 << 31) & (task_id >= 0) & (task_id < 1 << 32)
    return np.where(known, (stream_id << 32) | task_id, -1)


def _number(left: npt.NDArray[np.integer], right: npt.NDArray[np.integer]) -> I64:
    """Numbers from 0 for the pairs of two columns."""
    _, a = np.unique(left, return_inverse=True)
    _, b = np.unique(right, return_inverse=True)
    pairs = a.astype(np.int64) * (int(b.max(initial=0)) + 1) + b
    return np.asarray(np.unique(pairs, return_inverse=True)[1], np.int64).reshape(-1)


def _text(texts: list[str], code: int) -> str:
    return texts[code] if code >= 0 else ""
