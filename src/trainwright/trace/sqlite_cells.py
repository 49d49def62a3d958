"""Typed columns out of what a SQLite file stores: any value may be of any type there, whatever the column says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.units import INT64_MAX, ns_from_text

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

#: Called with (code, count, example) for everything that was damaged; see `trainwright.trace.reader.Sink.quality`.
Trouble = Callable[[str, int, str], None]

#: Integers above this have no exact floating point form.
EXACT_FLOAT = 2**53


class Batch:
    """Some rows of a table as typed columns, by the caller's column names.

    A column that the table lacks behaves as if every value were null.
    """

    def __init__(self, table: str, raw: Mapping[str, Sequence[Any]], rows: int, trouble: Trouble) -> None:
        self.table = table
        self.rows = rows
        self._raw = raw
        self._trouble = trouble

    def has(self, name: str) -> bool:
        """Whether the table has the column."""
        return name in self._raw

    def only(self, mask: Bool) -> Batch:
        """The rows for which `mask`, (rows,), is true."""
        chosen = mask.tolist()
        raw = {name: list(compress(values, chosen)) for name, values in self._raw.items()}
        return Batch(self.table, raw, int(np.count_nonzero(mask)), self._trouble)

    def numbers(self, name: str) -> tuple[I64, Bool]:
        """Whole numbers, (rows,), and which rows hold one.

        Text is read as exact decimal. Floating point values are rounded, and counted where their rounding may have
        lost something (a time since the epoch kept as REAL has steps of 256 ns). Null is no number; anything else
        that is none is counted too.
        """
        values = self._raw.get(name)
        if values is None:
            return np.zeros(self.rows, np.int64), np.zeros(self.rows, np.bool_)
        kinds = set(map(type, values))
        if kinds <= {int}:
            return np.fromiter(values, np.int64, self.rows), np.ones(self.rows, np.bool_)
        if kinds <= {bytes, type(None)} and (fast := _all_decimal(values)) is not None:
            return fast
        ok = np.fromiter((value is not None for value in values), np.bool_, self.rows)
        if kinds == {int, type(None)}:
            return np.fromiter((value or 0 for value in values), np.int64, self.rows), ok
        return self._mixed_numbers(name, values, ok)

    def _mixed_numbers(self, name: str, values: Sequence[Any], ok: Bool) -> tuple[I64, Bool]:
        out = np.zeros(self.rows, np.int64)
        rounded: list[Any] = []
        bad: list[Any] = []
        for at, value in enumerate(values):
            if isinstance(value, int):
                out[at] = value
                continue
            if value is None:
                continue
            number = _whole(value)
            if number is None:
                ok[at] = False
                bad.append(value)
            else:
                out[at] = number
                if isinstance(value, float) and (value != number or abs(value) > EXACT_FLOAT):
                    rounded.append(value)
        self._report("rounded-number", name, rounded)
        self._report("bad-value", name, bad)
        return out, ok

    def ints(self, name: str, default: int = -1) -> I64:
        """Whole numbers, (rows,); `default` where a row has none."""
        numbers, ok = self.numbers(name)
        return numbers if ok.all() else np.where(ok, numbers, default)

    def floats(self, name: str) -> F64:
        """Floating point numbers, (rows,); NaN where a row has none."""
        values = self._raw.get(name)
        if values is None:
            return np.full(self.rows, np.nan)
        if set(map(type, values)) <= {int, float}:
            return np.fromiter(values, np.float64, self.rows)
        out = np.full(self.rows, np.nan)
        bad: list[Any] = []
        for at, value in enumerate(values):
            try:
                out[at] = np.nan if value is None else float(value)
            except ValueError:
                bad.append(value)
        self._report("bad-value", name, bad)
        return out

    def is_text(self, name: str) -> bool:
        """Whether any row holds text."""
        return bytes in set(map(type, self._raw.get(name, ())))

    def texts(self, name: str) -> pa.StringArray:
        """Text, (rows,); numbers as their decimal form, null where a row has nothing."""
        values = self._raw.get(name)
        if values is None:
            return pa.nulls(self.rows, pa.string())
        try:
            return pa.array(values, pa.string())
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # not UTF-8, or not text
            damaged = [value for value in values if isinstance(value, bytes) and not _is_utf8(value)]
            self._report("bad-text", name, damaged)
            return pa.array(map(lenient, values), pa.string())

    def natural(self, name: str) -> pa.Array:
        """The column in the one type that holds all its values: int64, float64, text, or the null type."""
        values = self._raw.get(name, (None,) * self.rows)
        kinds = set(map(type, values)) - {type(None)}
        if not kinds:
            return pa.nulls(self.rows)
        if kinds == {int}:
            return pa.array(values, pa.int64())
        if kinds <= {int, float}:
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        return self.texts(name)

    def _report(self, code: str, name: str, values: Sequence[Any]) -> None:
        if values:
            self._trouble(code, len(values), f"{self.table}.{name}: {str(lenient(values[0]))[:80]}")


def _all_decimal(values: Sequence[bytes | None]) -> tuple[I64, Bool] | None:
    """A column of whole decimal numbers kept as text, and which are not null; None when any is something else."""
    try:
        numbers = pa.array(values, pa.string()).cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    ok = np.asarray(numbers.is_valid().to_numpy(zero_copy_only=False))
    return np.asarray(numbers.fill_null(0).to_numpy()), ok


def _whole(value: object) -> int | None:
    """A whole number out of text (exact) or a floating point value (rounded half to even)."""
    if isinstance(value, bytes):
        return ns_from_text(value.decode("utf-8", "replace")[:64], "ns")
    if isinstance(value, float) and abs(value) <= INT64_MAX:
        return min(round(value), INT64_MAX)
    return None


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def lenient(value: object) -> str | None:
    """Text of any stored value; bytes that are not UTF-8 become replacement characters."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if value is None else str(value)
