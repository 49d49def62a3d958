"""Turn the texts of JSON events into columns with DuckDB, with times exact to the nanosecond."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.units import ns_from_text

I64 = npt.NDArray[np.int64]

_TIME = re.compile(rb'"ts"\s*:\s*("?)(-?[0-9][-+0-9.eE]*)')
_BARE_TIME = re.compile(rb'("ts"\s*:\s*)(-?[0-9][-+0-9.eE]*)')
#: Below this many microseconds a float64 still tells nanoseconds apart (its step is 2**-10 us).
EXACT_FLOAT_US = 2**43

#: Longest duration that is told apart, 73 years.
LONGEST_US = 2**61 // 1000
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


class EventDecoder:
    """Turns event texts into columns with DuckDB. `sample` tells how this file writes times."""

    def __init__(self, database: Any, arguments: Mapping[str, str], sample: bytes) -> None:
        self._database = database
        self._arguments = arguments
        self._as_text, self._quote = _time_style(sample[: 1 << 20])

    def valid(self, cut: Cut) -> npt.NDArray[np.bool_]:
        """Which rows are valid JSON to DuckDB, which is stricter than Python; invalid UTF-8 is not."""
        ok = self._valid(cut.views)
        return np.array([self._valid_alone(text) for text in cut.texts()]) if ok is None else ok

    def _valid(self, texts: Callable[[], pa.Array]) -> npt.NDArray[np.bool_] | None:
        """Which texts are valid JSON; None where some cannot even be handed over."""
        import duckdb

        try:
            view = pa.table({"text": texts()})  # noqa: F841 - DuckDB reads the variable
            answer = self._database.sql("SELECT json_valid(text) AS ok FROM view").to_arrow_table()
        except (duckdb.Error, UnicodeDecodeError, pa.ArrowInvalid):
            return None
        return np.asarray(answer["ok"].to_numpy())

    def _valid_alone(self, text: bytes) -> bool:
        """Whether one text is valid JSON. Python, which is faster for one, says no first."""
        if not _is_json(text):
            return False
        ok = self._valid(lambda: pa.array([text], pa.binary()).cast(pa.string()))
        return ok is not None and bool(ok[0])

    def decode(self, cut: Cut) -> pa.Table | None:
        """The columns of `Batch.table`; None where some row is not valid JSON."""
        table = self._query(_quote_times(cut) if self._quote else cut)
        if table is not None and not self._as_text and _inexact(table["ts"]):
            self._as_text = self._quote = True
            return self.decode(cut)
        return table if table is None else self._exact_times(table)

    def _query(self, cut: Cut) -> pa.Table | None:
        import duckdb

        members = {**_MEMBERS, "ts": "VARCHAR" if self._as_text else "DOUBLE", "dur": "DOUBLE"}
        structure: dict[str, Any] = {**members, "args": self._arguments} if self._arguments else members
        fields = [f"e.{_quoted(key)}" for key in members] + ["TRY_CAST(e.id AS BIGINT) AS id_number"]
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
        dur = _ns_from_floats(table["dur"].combine_chunks(), clamp=True)
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
    return join_texts([_BARE_TIME.sub(rb'\1"\2"', text) for text in cut.texts()])


def join_texts(texts: list[bytes]) -> Cut:
    """Rows out of separate texts."""
    size = np.fromiter(map(len, texts), np.int64, count=len(texts))
    data = b"".join(texts)
    return Cut(data=data, start=np.cumsum(size) - size, size=size, rest=len(data))


def _ns_from_floats(us: pa.Array, *, clamp: bool = False) -> pa.Array:
    """Nanoseconds from float64 microseconds: whole and fraction apart, so that no digit is lost.

    What does not fit is null, or with `clamp` the largest value that does: an overflowed duration stays recognisable.
    """
    values = us.to_numpy(zero_copy_only=False)
    if clamp:
        values = np.clip(values, -LONGEST_US, LONGEST_US)
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
