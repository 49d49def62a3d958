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

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.errors import InputError, RefusedError
from trainwright.trace.bytestream import ByteStream
from trainwright.trace.json_decoder import Cut, EventDecoder, join_texts
from trainwright.trace.repair import LostEvent, ReadEvent, read_stretch

I64 = npt.NDArray[np.int64]

CHUNK_BYTES = 8 << 20
#: What is read first: enough to see how the file is written.
HEAD_BYTES = 1 << 20
#: Longest single event; a longer one is not cut into rows.
MAX_EVENT_BYTES = 256 << 20
#: Longest text before the array and after it that is kept as metadata.
MAX_METADATA_BYTES = 64 << 20

_ARRAY_START = re.compile(rb'"traceEvents"\s*:\s*\[')
_SEPARATOR = re.compile(rb'\}\s*,\s*\{\s*"')


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
    stream_code: str = ""
    #: Where the file ends although the array does not.
    unended: int | None = None


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
        import duckdb  # takes a tenth of a second, which databases and tables need not pay

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
            decoder = EventDecoder(self._database, self._arguments, data)
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
                part = self._decode(decoder, offset, cut, last=ended)
                if part.batch is not None:
                    yield part.batch, stream.position, stream.size
                if part.array_end is not None:
                    self._keep_tail(data[part.array_end :], stream)
                    break
                data, offset = data[part.rest :], offset + part.rest
            else:
                self.damage.unended = offset + len(data)
            self.damage.stream, self.damage.stream_code = stream.damage, stream.damage_code
        self._database.close()

    def _find_array(self, stream: ByteStream) -> tuple[bytes, int]:
        """Bytes from the first event on, and their offset."""
        data = stream.read(HEAD_BYTES)
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

    def _decode(self, decoder: EventDecoder, offset: int, cut: Cut, *, last: bool) -> _Part:
        """The events of a cut chunk that starts at `offset`."""
        table = None if last else decoder.decode(cut)  # the last cut ends with the rest of the document
        if table is None:
            bad = np.flatnonzero(~decoder.valid(cut))
            if len(bad):
                return self._decode_damaged(decoder, offset, cut, bad, more=not last)
            table = decoder.decode(cut)
            assert table is not None, f"valid events of {self.path} near byte {offset} do not decode"
        return _Part(batch=Batch(table=table, offset=cut.start + offset, size=cut.size, cut=cut), rest=cut.rest)

    def _decode_damaged(self, decoder: EventDecoder, offset: int, cut: Cut, bad: I64, *, more: bool) -> _Part:
        """Read around the bad cuts: good ones as they are, stretches of bad ones event by event."""
        good_starts = set(np.delete(cut.start, bad).tolist())
        keep = np.ones(len(cut.start), np.bool_)
        mended: list[ReadEvent] = []
        rest, array_end, reached = cut.rest, None, 0
        for begin in cut.start[bad].tolist():
            if begin < reached:
                continue
            text = cut.data[: cut.rest]
            stretch = read_stretch(text, begin, offset=offset, resume=good_starts, more=more)
            mended.extend(stretch.events)
            self.damage.lost.extend(stretch.lost)
            reached, array_end = stretch.stop, stretch.array_end
            keep &= (cut.start < begin) | (cut.start >= reached)
            if array_end is not None or stretch.unfinished is not None:
                keep &= cut.start < reached
                rest = reached
                break
        mended = self._sound(decoder, mended)
        self.damage.repaired.extend(event for event in mended if event.repair)
        return _Part(batch=self._join_mended(decoder, offset, cut, keep, mended), rest=rest, array_end=array_end)

    def _join_mended(
        self, decoder: EventDecoder, offset: int, cut: Cut, keep: npt.NDArray[np.bool_], mended: list[ReadEvent]
    ) -> Batch | None:
        """A batch of the kept cuts and the mended events, in file order."""
        good = np.flatnonzero(keep)
        places = np.concatenate([cut.start[good] + offset, np.array([event.offset for event in mended], np.int64)])
        sizes = np.concatenate([cut.size[good], np.array([event.size for event in mended], np.int64)])
        order = np.argsort(places, kind="stable")
        if not len(order):
            return None
        texts = [cut.text(int(row)) for row in good] + [event.text for event in mended]
        joined = join_texts([texts[at] for at in order])
        table = decoder.decode(joined)
        assert table is not None, f"mended events of {self.path} near byte {offset} do not decode"
        return Batch(table=table, offset=places[order], size=sizes[order], cut=joined)

    def _sound(self, decoder: EventDecoder, mended: list[ReadEvent]) -> list[ReadEvent]:
        """The mended events that can be decoded; the others are lost."""
        if not mended:
            return mended
        ok = decoder.valid(join_texts([event.text for event in mended])).tolist()
        for event, fine in zip(mended, ok, strict=True):
            if not fine:
                self.damage.lost.append(LostEvent(offset=event.offset, reason="malformed", text=event.text[:200]))
        return [event for event, fine in zip(mended, ok, strict=True) if fine]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """What a chunk gave: events, where the bytes not read yet begin, and where the array ends if it does here."""

    batch: Batch | None
    rest: int
    array_end: int | None = None


class _Cutter:
    """Finds the separators between events. `sample` is the beginning of the array."""

    def __init__(self, sample: bytes) -> None:
        counts: dict[bytes, int] = {}
        for found in _SEPARATOR.finditer(sample[: 1 << 20]):
            counts[found.group()] = counts.get(found.group(), 0) + 1
        #: From the brace that closes an event to the quote of the next event's first key: four bytes or more.
        self._separator = max(counts, key=lambda text: counts[text]) if counts else b'},{"'
        self._brace = self._separator.rindex(b"{")

    def cut(self, data: bytes, *, last: bool) -> Cut:
        """Cut `data` at its separators; all of it when it is the `last`, else up to the last separator."""
        marks = self._find(data)
        start = np.concatenate([[0], marks + self._brace])
        end = np.append(marks + 1, len(data))
        if not last:
            rest = int(start[-1])
            return Cut(data=data, start=start[:-1], size=end[:-1] - start[:-1], rest=rest)
        return Cut(data=data, start=start, size=end - start, rest=len(data))

    def _find(self, data: bytes) -> I64:
        """Positions of the separator: of its first four bytes, then of the others there."""
        separator = self._separator
        if len(data) < len(separator):
            return np.empty(0, np.int64)
        words = np.ndarray((len(data) - 3,), "<u4", data, strides=(1,))
        marks = np.flatnonzero(words == np.frombuffer(separator[:4], "<u4")[0])
        marks = marks[marks <= len(data) - len(separator)]
        letters = np.frombuffer(data, np.uint8)
        for at in range(4, len(separator)):
            marks = marks[letters[marks + at] == separator[at]]
        return marks
