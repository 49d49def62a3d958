"""Slices of the host in an Ascend database: framework, calls into CANN, marks of the user, garbage collection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.ascend_db_rows import Rows
from trainwright.trace.ascend_db_tables import AscendDb, Strings, is_one_of
from trainwright.trace.ascend_names import one_line, step_number
from trainwright.trace.sqlite_cells import Batch

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

_API = (
    "startNs", "endNs", "globalTid", "connectionId", "name", "sequenceNumber", "fwdThreadId", "inputDtypes",
    "inputShapes", "callchainId", "type",
)  # fmt: skip
_MSTX = ("startNs", "endNs", "eventType", "message", "globalTid", "domainId", "connectionId")
#: What the text form calls the sorts of framework events.
_CATEGORIES = {"op": "cpu_op", "pytorch": "cpu_op", "queue": "queue", "trace": "python_function", "mstx": "mstx"}
_LAYERS = {"acl": "AscendCL"}
_SHAPES = re.compile(r"^[\d\s,;\[\]()]*\d[\d\s,;\[\]()]*$")
#: Of several calls with one connection id, the one that hands the work over, best first.
_LAUNCHING = ("node", "hccl", "acl", "runtime", "model")


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Slices of the host, (N,) each: what joins them with the device. `thread` is the id over all processes."""

    event: I64
    track: I32
    thread: I64
    start: I64
    end: I64
    number: I64

    def where(self, which: Bool | I64) -> Ranges:
        """Some of the slices, by a mask or their indices."""
        return Ranges(**{field.name: getattr(self, field.name)[which] for field in fields(self)})


def joined(parts: Sequence[Ranges]) -> Ranges:
    """Several as one."""
    empty = np.empty(0, np.int64)
    return Ranges(
        **{
            field.name: np.concatenate([empty, *(getattr(part, field.name) for part in parts)])
            for field in fields(Ranges)
        }
    )


class Connections:
    """``CONNECTION_IDS``: which ids join a framework event with others. Most events have one, operators several.

    `own`, (N,), is the id of the framework event, `joining` what it shares with a launch, a queue entry or an operator.
    """

    def __init__(self, db: AscendDb) -> None:
        parts = [np.empty((2, 0), np.int64)]
        for batch in db.batches("CONNECTION_IDS", ("id", "connectionId")):
            parts.append(np.stack([batch.ints("id"), db.ids(batch, "connectionId")]))
        own, joining = np.concatenate(parts, axis=1)
        order = np.argsort(own, kind="stable")
        self.own, self.joining = own[order], joining[order]

    def first(self, own: I64) -> I64:
        """The first joining id of each event, (M,); -1 for an event without any."""
        if not len(self.own):
            return np.full(len(own), -1, np.int64)
        at = np.minimum(np.searchsorted(self.own, own), len(self.own) - 1)
        return np.where((self.own[at] == own) & (own >= 0), self.joining[at], -1)


class Framework:
    """``PYTORCH_API``: operators, the launch queue, Python functions.

    Attributes:
        operators: operators; `Ranges.number` is their id in `Connections.own`, -1 for none.
        queue: entries of the launch queue; `Ranges.number` joins the two of a pair, -1 for none.
    """

    def __init__(self, db: AscendDb, rows: Rows, connections: Connections) -> None:
        self._db = db
        self._rows = rows
        self._connections = connections
        self._swapped: bool | None = None
        self._steps: set[int] = set()
        operators: list[Ranges] = []
        queue: list[Ranges] = []
        for batch in db.batches("PYTORCH_API", _API):
            ranges, sort = self._pour(batch)
            operators.append(ranges.where(is_one_of(sort, "op", "pytorch")))
            queue.append(ranges.where(is_one_of(sort, "queue")))
        self.operators, self.queue = joined(operators), joined(queue)
        self._pour_steps()

    def _pour(self, batch: Batch) -> tuple[Ranges, pa.DictionaryArray]:
        batch, start, dur = self._db.spans(batch)
        sort = self._db.enum(batch, "type", "ENUM_API_TYPE")
        thread = batch.ints("globalTid")
        track = self._rows.threads("Python", thread)
        name = self._db.names(batch, "name")
        words = sort.dictionary.to_pylist()
        category = pa.DictionaryArray.from_arrays(
            sort.indices, pa.array([_CATEGORIES.get(word, word) for word in words])
        )
        number, in_queue = self._db.ids(batch, "connectionId"), is_one_of(sort, "queue")
        number[in_queue] = self._connections.first(number[in_queue])
        event = self._rows.add(
            track=track, start=start, dur=dur, name=name, category=category, number=np.where(in_queue, number, -1)
        )
        self._steps.update(
            step for text in name.unique().to_pylist() if text and (step := step_number(text)) is not None
        )
        is_operator = is_one_of(sort, "op", "pytorch")
        if is_operator.any():
            self._pour_operators(batch if is_operator.all() else batch.only(is_operator), event[is_operator])
        ranges = Ranges(event=event, track=track, thread=thread, start=start, end=start + dur, number=number)
        return ranges, sort

    def _pour_operators(self, batch: Batch, event: I64) -> None:
        shapes, dtypes = (self._db.texts(batch, name, one_line) for name in ("inputShapes", "inputDtypes"))
        if self._swapped is None and (_shapes_in(shapes) or _shapes_in(dtypes)):
            self._swapped = _shapes_in(dtypes) > _shapes_in(shapes)
        if self._swapped:  # some versions of the exporter write each into the other's column
            shapes, dtypes = dtypes, shapes
            self._db.trouble("columns-swapped", batch.rows, "PYTORCH_API: inputShapes holds types, inputDtypes shapes")
        stacks = self._stacks
        self._db.sink.add(
            "ops", event=event, external_id=event, sequence=batch.ints("sequenceNumber"),
            fwd_thread=batch.ints("fwdThreadId", 0), shapes=shapes, dtypes=dtypes,
            stack=stacks.texts(stacks.rows(batch.ints("callchainId"))),
        )  # fmt: skip

    @cached_property
    def _stacks(self) -> Strings:
        return _call_stacks(self._db)

    def _pour_steps(self) -> None:
        """Steps that no operator marks."""
        for batch in self._db.batches("STEP_TIME", ("id", "startNs", "endNs")):
            batch, start, dur = self._db.spans(batch)  # noqa: PLW2901
            step = batch.ints("id")
            new = ~np.isin(step, list(self._steps)) & (step >= 0)
            if new.any():
                track = self._rows.track(process="Python", thread="Steps", pid="", tid="steps", side="host")
                names = pa.array([f"ProfilerStep#{number}" for number in step[new].tolist()])
                on = np.full(len(names), track, np.int32)
                self._rows.add(track=on, start=start[new], dur=dur[new], name=names, category="cpu_op")


def _shapes_in(texts: pa.DictionaryArray) -> int:
    """How many different texts of a column are shapes."""
    return sum(_SHAPES.match(text) is not None for text in texts.dictionary.to_pylist() if text)


def _call_stacks(db: AscendDb) -> Strings:
    """The call stack of every chain, innermost frame first, one per line."""
    chains, depths, frames = [np.empty(0, np.int64)], [np.empty(0, np.int64)], []
    words: list[str] = []
    for batch in db.batches("PYTORCH_CALLCHAINS", ("id", "stack", "stackDepth")):
        texts = db.names(batch, "stack")
        encoded = texts if isinstance(texts, pa.DictionaryArray) else texts.dictionary_encode()
        frames.append(encoded.indices.to_numpy() + len(words))
        words += encoded.dictionary.to_pylist()
        chains.append(batch.ints("id"))
        depths.append(batch.ints("stackDepth"))
    chain, depth = np.concatenate(chains), np.concatenate(depths)
    order = np.lexsort((depth, chain))
    ids, first = np.unique(chain[order], return_index=True)
    lines = [
        words[frame] for frame in np.concatenate([np.empty(0, np.int64), *frames]).astype(np.int64)[order].tolist()
    ]
    bounds = [*first.tolist(), len(lines)]
    stacks = ["\n".join(lines[begin:end]) for begin, end in pairwise(bounds)]
    return Strings(ids, pa.array(stacks, pa.string()))


def pour_calls(db: AscendDb, rows: Rows) -> Ranges:
    """``CANN_API``: calls into the libraries below the framework; `Ranges.number` is their connection id."""
    calls: list[Ranges] = []
    for batch in db.batches("CANN_API", ("startNs", "endNs", "type", "globalTid", "connectionId", "name")):
        batch, start, dur = db.spans(batch)  # noqa: PLW2901
        level = db.enum(batch, "type", "ENUM_API_TYPE")
        thread = batch.ints("globalTid")
        track = rows.threads("CANN", thread)
        number = _launching(db.ids(batch, "connectionId"), level)
        event = rows.add(
            track=track, start=start, dur=dur, name=_with_level(db.names(batch, "name"), level), number=number
        )
        calls.append(Ranges(event=event, track=track, thread=thread, start=start, end=start + dur, number=number))
    return joined(calls)


def _launching(number: I64, level: pa.DictionaryArray) -> I64:
    """Connection ids of calls, kept by one call each: that which hands the work over."""
    order_of = [*(_LAUNCHING.index(word) if word in _LAUNCHING else 9 for word in level.dictionary.to_pylist()), 9]
    order = np.array(order_of)[level.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    best = np.lexsort((order, number))
    again = np.zeros(len(number), np.bool_)
    again[best[1:]] = number[best[1:]] == number[best[:-1]]
    return np.where(again, -1, number)


def _with_level(names: pa.Array, level: pa.DictionaryArray) -> pa.Array:
    """Names as the text form has them: ``launch`` of the level ``node`` is ``Node@launch``."""
    encoded = names if isinstance(names, pa.DictionaryArray) else names.dictionary_encode()
    levels, words = level.dictionary.to_pylist(), encoded.dictionary.to_pylist()
    pairs = level.indices.fill_null(len(levels)).to_numpy().astype(np.int64) * len(words) + encoded.indices.to_numpy()
    distinct, at = np.unique(pairs, return_inverse=True)
    texts = []
    for pair in distinct.tolist():
        which, word = divmod(pair, len(words))
        layer = levels[which] if which < len(levels) else ""
        texts.append(f"{_LAYERS.get(layer, layer.capitalize())}@{words[word]}" if layer else words[word])
    return pa.DictionaryArray.from_arrays(pa.array(at.reshape(-1).astype(np.int32)), pa.array(texts, pa.string()))


def pour_marks(db: AscendDb, rows: Rows) -> Strings:
    """``MSTX_EVENTS``: ranges and instants that the user marked; the message of each by its connection id."""
    ids, messages = [np.empty(0, np.int64)], [pa.array([], pa.string())]
    for batch in db.batches("MSTX_EVENTS", _MSTX):
        batch, start, dur = db.spans(batch)  # noqa: PLW2901
        message = db.names(batch, "message")
        track = rows.threads("MSTX", batch.ints("globalTid"))
        number = db.ids(batch, "connectionId")
        instant = is_one_of(db.enum(batch, "eventType", "ENUM_MSTX_EVENT_TYPE"), "marker", "marker_ex")
        lasting = ~instant
        if lasting.any():
            rows.add(
                track=track[lasting], start=start[lasting], dur=dur[lasting], name=message.filter(pa.array(lasting)),
                category="mstx", number=number[lasting],
            )  # fmt: skip
        if instant.any():
            count = int(np.count_nonzero(instant))
            first = db.sink.events(count)
            db.sink.add(
                "instants", event=np.arange(first, first + count), track=track[instant], ts_ns=start[instant],
                name=message.filter(pa.array(instant)), category="mstx",
            )  # fmt: skip
        ids.append(number[number >= 0])
        messages.append(message.filter(pa.array(number >= 0)).cast(pa.string()))
    return Strings(np.concatenate(ids), pa.concat_arrays(messages))


def pour_garbage_collection(db: AscendDb, rows: Rows) -> None:
    """``GC_RECORD``: pauses of the Python interpreter."""
    for batch in db.batches("GC_RECORD", ("startNs", "endNs", "globalTid")):
        batch, start, dur = db.spans(batch)  # noqa: PLW2901
        track = rows.threads("Python GC", batch.ints("globalTid"))
        rows.add(track=track, start=start, dur=dur, name=pa.array(["GC"] * len(start), pa.string()))
