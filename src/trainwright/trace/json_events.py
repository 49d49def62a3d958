"""Decode an array of JSON events into columns, fast, exactly, and one bad event at a time.

The array is cut at the separators between events (a vectorised search for the separator this writer uses), and DuckDB
decodes the cuts as rows of text in one pass with an explicit structure. A cut that is not valid JSON goes to
`trainwright.trace.repair` with its neighbours untouched, so a wrong cut (a separator inside a string) is mended there
too. Every event keeps its byte offset: arguments nobody asked for are fetched from the file on demand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.errors import InputError, RefusedError
from trainwright.core.units import ns_from_text
from trainwright.trace.bytestream import ByteStream
from trainwright.trace.repair import LostEvent, ReadEvent, read_stretch

I64 = npt.NDArray[np.int64]

CHUNK_BYTES = 8 << 20
#: Longest single event; a longer one is not cut into rows.
MAX_EVENT_BYTES = 256 << 20
#: Longest text before the array and after it that is kept as metadata.
MAX_METADATA_BYTES = 64 << 20

_ARRAY_START = re.compile(rb'"traceEvents"\s*:\s*\[')
_SEPARATOR = re.compile(rb'\}(\s*,\s*)\{\s*"')
_TIME = re.compile(rb'"ts"\s*:\s*("?)(-?[0-9][-+0-9.eE]*)')
_BARE_TIME = re.compile(rb'("ts"\s*:\s*)(-?[0-9][-+0-9.eE]*)')
#: Below this many microseconds a float64 still tells nanoseconds apart (its step is 2**-10 us).
EXACT_FLOAT_US = 2**43

#: Top-level members of an event, as DuckDB types. Times are added according to how the file writes them.
_MEMBERS = {"ph": "VARCHAR", "cat": "VARCHAR", "name": "VARCHAR", "pid": "VARCHAR", "tid": "VARCHAR", "id": "VARCHAR"}


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Rows of a chunk: each event's start and size in `data`; `rest` is where the bytes not cut yet begin."""

    data: bytes
    start: I64
    size: I64
    rest: int

    def text(self, row: int) -> bytes:
        """The text of one row."""
        begin = int(self.start[row])
        return self.data[begin : begin + int(self.size[row])]

    def texts(self) -> list[bytes]:
        """The text of every row."""
        ends = self.start + self.size
        return [self.data[begin:end] for begin, end in zip(self.start.tolist(), ends.tolist(), strict=True)]

    def views(self) -> pa.Array:
        """The rows as a string array that points into `data` (Arrow string view: size, prefix, buffer, offset)."""
        if len(self.data) < 16 or (self.size <= 12).any():  # short texts live inside the view: let Arrow build them
            return pa.array(self.texts(), pa.binary()).cast(pa.string())
        views = np.empty(len(self.start), [("size", "<i4"), ("prefix", "V4"), ("buffer", "<i4"), ("offset", "<i4")])
        views["size"] = self.size
        views["prefix"] = np.ndarray((len(self.data) - 3,), "V4", self.data, strides=(1,))[self.start]
        views["buffer"] = 0
        views["offset"] = self.start
        buffers = [None, pa.py_buffer(views), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.string_view(), len(views), buffers)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Decoded events: `table` has ph, cat, name, pid, tid, id, ts_ns, dur_ns and the arguments asked for.

    `ts_ns` and `dur_ns` are int64 with nulls where an event has none; an argument named like a member
    is in ``args.<key>``; `offset` and `size` locate the event's text in
    its file.
    """

    table: pa.Table
    offset: I64
    size: I64
    cut: Cut

    def text(self, row: int) -> bytes:
        """The JSON text of one event."""
        return self.cut.text(row)


@dataclass(kw_only=True)
class Damage:
    """What the decoder had to repair or give up, collected while batches are read."""

    repaired: list[ReadEvent]
    lost: list[LostEvent]
    stream: str = ""


class EventFile:
    """The events of one file. Iterate `batches` once; then `metadata` and `damage` are complete.

    Args:
        path: plain or gzip JSON, either an array of events or an object with ``traceEvents``.
        arguments: DuckDB type by key of ``args`` to decode, for example ``{"correlation": "BIGINT"}``.
        renames: pairs of equally long byte strings; the first is replaced by the second before decoding. DuckDB takes
            keys that differ only in case for one, so one spelling has to give way.

    Raises:
        InputError: the file holds no event array.
    """

    def __init__(
        self, path: Path, *, arguments: Mapping[str, str], renames: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        assert all(len(old) == len(new) for old, new in renames), "renames must keep offsets"
        self.path = path
        self.damage = Damage(repaired=[], lost=[])
        self._arguments = dict(arguments)
        self._renames = renames
        self._head = b""
        self._tail = b""
        self._database = duckdb.connect(config={"threads": 1})

    @property
    def metadata(self) -> dict[str, Any]:
        """What stands beside the events in the top-level object; empty for a bare array."""
        if not self._head:
            return {}
        text = self._head + b"]" + (self._tail[self._tail.find(b"]") + 1 :] if b"]" in self._tail else b"}")
        for attempt in (text, self._head + b"]}"):
            try:
                found = json.loads(attempt.decode("utf-8", errors="replace"), strict=False)
            except (ValueError, RecursionError):
                continue
            found.pop("traceEvents", None)
            return dict(found)
        return {}

    def batches(self) -> Iterator[tuple[Batch, int, int]]:
        """Batches in file order, each with bytes of the file consumed and the size of the file."""
        with ByteStream(self.path) as stream:
            data, offset = self._find_array(stream)
            cutter = _Cutter(data)
            decoder = _Decoder(self._database, self._arguments, data)
            ended = False
            while not ended:
                block = stream.read(CHUNK_BYTES)
                ended = not block
                data = data + block if block else data
                if len(data) > MAX_EVENT_BYTES:
                    raise RefusedError(
                        f"{self.path}: one event is longer than {MAX_EVENT_BYTES:,} bytes (byte {offset:,})",
                        todo="check that the file is a trace",
                    )
                cut = cutter.cut(data, last=ended)
                if not len(cut.start):
                    continue
                for old, new in self._renames:
                    if old in data:
                        cut = replace(cut, data=cut.data.replace(old, new))
                batch, array_end = self._decode(decoder, offset, cut, last=ended)
                if batch is not None:
                    yield batch, stream.position, stream.size
                if array_end is not None:
                    self._keep_tail(data[array_end - offset :], stream)
                    break
                data, offset = data[cut.rest :], offset + cut.rest
            self.damage.stream = stream.damage

    def _find_array(self, stream: ByteStream) -> tuple[bytes, int]:
        """Bytes from the first event on, and their offset."""
        data = stream.read(1 << 20)
        begin = len(data) - len(data.lstrip(b"\xef\xbb\xbf \t\r\n"))
        if data[begin : begin + 1] == b"[":
            return data[begin + 1 :], begin + 1
        while True:
            if found := _ARRAY_START.search(data):
                self._head = data[begin : found.end()]
                return data[found.end() :], found.end()
            more = stream.read(CHUNK_BYTES)
            if not more or len(data) > MAX_METADATA_BYTES:
                raise InputError(
                    f"{self.path} holds no event array",
                    allowed='a JSON array of events, or an object with "traceEvents"',
                    todo="check that the file is a Chrome or Kineto trace",
                )
            data += more

    def _keep_tail(self, tail: bytes, stream: ByteStream) -> None:
        while len(tail) < MAX_METADATA_BYTES and (more := stream.read(CHUNK_BYTES)):
            tail += more
        self._tail = tail

    def _decode(self, decoder: _Decoder, offset: int, cut: Cut, *, last: bool) -> tuple[Batch | None, int | None]:
        """The events of a cut chunk, and the offset of the end of the array if it is in here."""
        table = None if last else decoder.decode(cut)  # the last cut ends with the rest of the document
        if table is not None:
            return Batch(table=table, offset=cut.start + offset, size=cut.size, cut=cut), None
        bad = np.flatnonzero(~decoder.valid(cut))
        if not len(bad):
            table = decoder.decode(cut)
            assert table is not None, f"valid events of {self.path} near byte {offset} do not decode"
            return Batch(table=table, offset=cut.start + offset, size=cut.size, cut=cut), None
        return self._decode_damaged(decoder, offset, cut, bad)

    def _decode_damaged(self, decoder: _Decoder, offset: int, cut: Cut, bad: I64) -> tuple[Batch | None, int | None]:
        """Read around the bad cuts: good ones as they are, stretches of bad ones event by event."""
        keep = np.ones(len(cut.start), np.bool_)
        keep[bad] = False
        mended: list[ReadEvent] = []
        array_end = None
        for first, last in _runs(bad):
            stop = int(cut.start[last + 1]) if last + 1 < len(cut.start) else cut.rest
            begin = int(cut.start[first])
            stretch = read_stretch(cut.data[begin:stop], offset + begin)
            mended.extend(stretch.events)
            self.damage.lost.extend(stretch.lost)
            if stretch.array_end is not None:
                array_end = stretch.array_end
                keep[first:] = False
                break
        self.damage.repaired.extend(event for event in mended if event.repair)
        good = np.flatnonzero(keep)
        places = np.concatenate([cut.start[good] + offset, np.array([event.offset for event in mended], np.int64)])
        sizes = np.concatenate([cut.size[good], np.array([event.size for event in mended], np.int64)])
        order = np.argsort(places, kind="stable")
        if not len(order):
            return None, array_end
        texts = [cut.text(int(row)) for row in good] + [event.text for event in mended]
        joined = _join([texts[at] for at in order])
        table = decoder.decode(joined)
        assert table is not None, f"mended events of {self.path} near byte {offset} do not decode"
        return Batch(table=table, offset=places[order], size=sizes[order], cut=joined), array_end


class _Cutter:
    """Finds the separators between events. `sample` is the beginning of the array."""

    def __init__(self, sample: bytes) -> None:
        counts: dict[bytes, int] = {}
        for found in _SEPARATOR.finditer(sample[: 1 << 20]):
            counts[found.group(1)] = counts.get(found.group(1), 0) + 1
        gap = max(counts, key=lambda text: counts[text]) if counts else b","
        self._separator = b"}" + gap + b"{"

    def cut(self, data: bytes, *, last: bool) -> Cut:
        """Cut `data` at its separators; all of it when it is the `last`, else up to the last separator."""
        marks = self._find(data)
        length = len(self._separator)
        start = np.concatenate([[0], marks + length - 1])
        end = np.append(marks + 1, len(data))
        if not last:
            rest = int(start[-1])
            return Cut(data=data, start=start[:-1], size=end[:-1] - start[:-1], rest=rest)
        return Cut(data=data, start=start, size=end - start, rest=len(data))

    def _find(self, data: bytes) -> I64:
        """Positions of the separator."""
        separator = self._separator
        if len(data) < max(len(separator), 4):
            return np.empty(0, np.int64)
        if len(separator) < 4:
            return np.array([found.start() for found in re.finditer(re.escape(separator), data)], np.int64)
        words = np.ndarray((len(data) - 3,), "<u4", data, strides=(1,))
        marks = np.flatnonzero(words == np.frombuffer(separator[:4], "<u4")[0])
        marks = marks[marks <= len(data) - len(separator)]
        letters = np.frombuffer(data, np.uint8)
        for at in range(4, len(separator)):
            marks = marks[letters[marks + at] == separator[at]]
        return marks


class _Decoder:
    """Turns event texts into columns with DuckDB. `sample` tells how this file writes times."""

    def __init__(self, database: Any, arguments: Mapping[str, str], sample: bytes) -> None:
        self._database = database
        self._arguments = arguments
        self._as_text, self._quote = _time_style(sample[: 1 << 20])

    def valid(self, cut: Cut) -> npt.NDArray[np.bool_]:
        """Which rows are valid JSON; invalid UTF-8 is not."""
        try:
            view = pa.table({"text": cut.views()})  # noqa: F841 - DuckDB reads the variable
            answer = self._database.sql("SELECT json_valid(text) AS ok FROM view").to_arrow_table()
            return np.asarray(answer["ok"].to_numpy())
        except (duckdb.Error, UnicodeDecodeError, pa.ArrowInvalid):
            return np.array([_is_json(text) for text in cut.texts()])

    def decode(self, cut: Cut) -> pa.Table | None:
        """The columns of `Batch.table`; None where some row is not valid JSON."""
        table = self._query(_quote_times(cut) if self._quote else cut)
        if table is not None and not self._as_text and _inexact(table["ts"]):
            self._as_text = self._quote = True
            return self.decode(cut)
        return table if table is None else self._exact_times(table)

    def _query(self, cut: Cut) -> pa.Table | None:
        members = {**_MEMBERS, "ts": "VARCHAR" if self._as_text else "DOUBLE", "dur": "DOUBLE"}
        structure: dict[str, Any] = {**members, "args": self._arguments} if self._arguments else members
        fields = [f"e.{_quoted(key)}" for key in members]
        fields += [f"e.args.{_quoted(key)} AS {_quoted(argument_column(key))}" for key in self._arguments]
        transform = f"json_transform(text, {_literal(json.dumps(structure))})"
        try:
            view = pa.table({"text": cut.views()})  # noqa: F841 - DuckDB reads the variable
            query = f"SELECT {', '.join(fields)} FROM (SELECT {transform} AS e FROM view)"
            return self._database.sql(query).to_arrow_table()
        except (duckdb.Error, UnicodeDecodeError, pa.ArrowInvalid):
            return None

    def _exact_times(self, table: pa.Table) -> pa.Table:
        ts = table["ts"].combine_chunks()
        exact = _ns_from_texts(self._database, ts) if self._as_text else _ns_from_floats(ts)
        table = table.set_column(table.schema.get_field_index("ts"), "ts_ns", exact)
        dur = _ns_from_floats(table["dur"].combine_chunks())
        return table.set_column(table.schema.get_field_index("dur"), "dur_ns", dur)


def argument_column(key: str) -> str:
    """Column of an argument: its key, with ``args.`` before it where a member of the event has that name."""
    return f"args.{key}" if key in (*_MEMBERS, "ts", "dur") else key


def _time_style(sample: bytes) -> tuple[bool, bool]:
    """Whether times are to be decoded as text, and whether they have to be put in quotes for that."""
    for quote, number in _TIME.findall(sample)[:1000]:
        if quote:
            return True, False
        whole, _, fraction = number.partition(b".")
        if fraction and len(whole.lstrip(b"-")) >= len(str(EXACT_FLOAT_US)):
            return True, True
    return False, False


def _inexact(ts: pa.ChunkedArray) -> bool:
    """Whether some time lost digits as a float64."""
    values = ts.to_numpy()
    values = values[np.isfinite(values)]
    return bool(np.any((np.abs(values) >= EXACT_FLOAT_US) & (values != np.floor(values))))


def _quote_times(cut: Cut) -> Cut:
    """The same rows with their times in quotes, so that they decode as text."""
    return _join([_BARE_TIME.sub(rb'\1"\2"', text) for text in cut.texts()])


def _join(texts: list[bytes]) -> Cut:
    """Rows out of separate texts."""
    size = np.fromiter(map(len, texts), np.int64, count=len(texts))
    data = b"".join(texts)
    return Cut(data=data, start=np.cumsum(size) - size, size=size, rest=len(data))


def _ns_from_floats(us: pa.Array) -> pa.Array:
    """Nanoseconds from float64 microseconds: whole and fraction apart, so that no digit is lost."""
    values = us.to_numpy(zero_copy_only=False)
    known = np.isfinite(values) & (np.abs(values) < 2**63 / 1000)
    values = np.where(known, values, 0.0)
    whole = np.floor(values)
    ns = whole.astype(np.int64) * 1000 + np.rint((values - whole) * 1000).astype(np.int64)
    return pa.array(ns, mask=~known)


def _ns_from_texts(database: Any, us: pa.Array) -> pa.Array:
    """Nanoseconds from decimal text: plain decimals in one vectorised cast, what that cannot read one by one."""
    view = pa.table({"t": us})  # noqa: F841 - DuckDB reads the variable
    query = "SELECT TRY_CAST(round(TRY_CAST(t AS DECIMAL(38, 6)) * 1000) AS BIGINT) AS ns FROM view"
    ns = database.sql(query).to_arrow_table()["ns"].combine_chunks()
    if ns.null_count == us.null_count:
        return ns
    texts = us.to_pylist()
    return pa.array([None if text is None else ns_from_text(text) for text in texts], pa.int64())


def _runs(rows: I64) -> list[tuple[int, int]]:
    """Runs of consecutive numbers as (first, last)."""
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > 1)
    firsts = rows[np.concatenate([[0], breaks + 1])]
    lasts = rows[np.append(breaks, len(rows) - 1)]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
