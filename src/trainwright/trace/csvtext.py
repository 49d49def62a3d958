"""Read a CSV file that a profiler, a spreadsheet or a broken disk has been at: typed columns, one bad row at a time.

Every cell is read as text first. Times become int64 nanoseconds by decimal arithmetic (a float64 loses digits at epoch
size), with the unit that stands in the column's head, such as ``Start Time(us)``. Columns are found by name without
regard to unit, case and punctuation. A row that cannot be read costs itself: it is counted and reported with its byte
offset, and so is a cell that is no number.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from trainwright.core.errors import InputError
from trainwright.core.units import BYTES_PER, INT64_MAX, NS_PER, TimeUnit, ns_from_text
from trainwright.trace.bytestream import ByteStream
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

#: Longest row; call stacks of real files take some 10 KB.
MAX_ROW_BYTES = 16 << 20
READ_BYTES = 16 << 20
#: How much of the file is looked at for its heads.
HEAD_BYTES = 1 << 20
#: Cells that hold nothing.
BLANKS = ("", "N/A", "NA", "n/a", "NaN", "nan", "None", "null")
#: Below this a float64 of microseconds still tells nanoseconds apart.
EXACT_FLOAT = 2**43

_UNIT = re.compile(r"\(\s*(us|ms|ns|s|B|Byte|KB|MB|GB|%|[KMG]?B/s|MHz)\s*\)\s*$", re.IGNORECASE)
_FIELD = re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"[ \t]*|([^",\r\n][^,\r\n]*)?)(,|\r?\n|\r|\Z)')
_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?$"
_WHOLE = r"^[-+]?\d{1,18}(\.0*)?$"
_PLAIN = r"^[-+]?\d{1,18}(\.\d{0,24})?$"
#: A time since the epoch in scientific notation: a spreadsheet kept six of its digits.
_ROUNDED = r"^\d(\.\d{0,9})?[eE]\+?(1[2-9])$"


class CsvTable:
    """The rows of a CSV file. Each cell has its text; typed columns are made when asked for.

    Columns are asked for by any of several names: the first that the file has is taken. A column that the file lacks
    behaves as if all of its cells were empty.
    """

    def __init__(self, path: Path, header: Sequence[str], columns: Sequence[pa.Array], sink: Sink) -> None:
        self.path = path
        self.header = tuple(header)
        self.rows = len(columns[0]) if columns else 0
        self._columns = columns
        self._sink = sink

    @cached_property
    def _index(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for at, name in enumerate(self.header):
            found.setdefault(plain_name(name), at)
        return found

    def find(self, *names: str) -> int | None:
        """Number of the column with one of these names, None when there is none."""
        return next((self._index[key] for key in map(plain_name, names) if key in self._index), None)

    def text(self, *names: str, unquote: bool = False) -> pa.Array:
        """Text, (rows,), without blanks around it; null where a cell holds nothing.

        Args:
            names: names of the column.
            unquote: also take away quotes around the text (shapes are quoted twice).
        """
        at = self.find(*names)
        if at is None:
            return pa.nulls(self.rows, pa.string())
        return _trimmed(self._columns[at], ' \t\r\n"' if unquote else " \t\r\n")

    def ns(self, *names: str, unit: TimeUnit = "us") -> tuple[I64, Bool]:
        """Nanoseconds, (rows,), and which rows have a time; `unit` counts where the head names none.

        Times since the epoch in scientific notation are taken as unknown: too many digits are gone.
        """
        text = self.text(*names, unquote=True)
        at = self.find(*names)
        named = _unit(self.header[at]) if at is not None else ""
        text = self._without(names, text, pc.match_substring_regex(text, _ROUNDED), "rounded-time")
        values, known = _decimal(text, NS_PER.get(named, NS_PER[unit]))
        self._report(names, text, known, "bad-value")
        return values, known

    def ints(self, *names: str, default: int = -1) -> I64:
        """Whole numbers, (rows,); `default` where a cell has none."""
        text = self.text(*names, unquote=True)
        whole = pc.match_substring_regex(text, _WHOLE).fill_null(False)
        digits = pc.replace_substring_regex(pc.if_else(whole, text, None), r"\.0*$|^\+", "")
        numbers = digits.cast(pa.int64())
        self._report(names, text, _mask(numbers.is_valid()), "bad-value")
        return np.asarray(numbers.fill_null(default).to_numpy(zero_copy_only=False))

    def floats(self, *names: str) -> F64:
        """Floating point numbers, (rows,); NaN where a cell has none."""
        text = self.text(*names, unquote=True)
        number = pc.match_substring_regex(text, _NUMBER).fill_null(False)
        self._report(names, text, _mask(number), "bad-value")
        return np.asarray(pc.if_else(number, text, None).cast(pa.float64()).to_numpy(zero_copy_only=False))

    def sizes(self, *names: str, unit: str = "MB") -> I64:
        """Bytes, (rows,), -1 where a cell has none; `unit` (B, KB, MB, GB) counts where the head names none."""
        at = self.find(*names)
        named = _unit(self.header[at]) if at is not None else ""
        scaled = self.floats(*names) * BYTES_PER.get(named.upper(), BYTES_PER[unit])
        known = np.isfinite(scaled) & (np.abs(scaled) < INT64_MAX)
        return np.where(known, np.rint(np.where(known, scaled, 0)), -1).astype(np.int64)

    def whole(self) -> dict[str, pa.Array]:
        """All columns under the heads of the file, numbers as numbers: int64, float64 or exact decimal, else text."""
        columns: dict[str, pa.Array] = {}
        for at, name in enumerate(self.header):
            key = name.strip() or f"column {at + 1}"
            while key in columns:
                key += "_2"
            columns[key] = _natural(_trimmed(self._columns[at], ' \t\r\n"'), _trimmed(self._columns[at], " \t\r\n"))
        return columns

    def _without(self, names: Sequence[str], text: pa.Array, bad: pa.Array, code: str) -> pa.Array:
        bad = bad.fill_null(False)
        self._report(names, text, ~_mask(bad), code)
        return pc.if_else(bad, None, text)

    def _report(self, names: Sequence[str], text: pa.Array, good: Bool, code: str) -> None:
        """Report cells that hold something but are not `good`."""
        bad = np.flatnonzero(_mask(text.is_valid()) & ~good)
        if len(bad):
            example = f"{names[0]}: {text[int(bad[0])].as_py()[:80]!r} in row {int(bad[0]) + 1}"
            self._sink.quality(code, count=len(bad), example=example, file=self.path)


def read_csv(path: Path, sink: Sink) -> CsvTable:
    """The table in a file; damaged rows are left out and reported to `sink`.

    Raises:
        InputError: the file cannot be opened or has no head.
        RefusedError: it is too large.
    """
    data = _read(path, sink)
    header = read_header(data)
    if not header:
        raise InputError(f"{path} is empty: it has no row of column names", todo="export the file again")
    fast = _read_fast(data, len(header))
    if fast is None:
        rows, bad = _read_slowly(data, len(header))
        columns = [pa.array(column, pa.binary()) for column in zip(*rows, strict=True)] or [pa.array([], pa.binary())]
    else:
        columns, bad = fast
    for offset, text in bad:
        sink.quality("bad-row", example=text[:120].decode("utf-8", "replace"), file=path, offset=offset)
    if bad:
        sink.lost(len(bad))
    return CsvTable(path, header, [_decoded(column[1:], path, sink) for column in columns], sink)


def read_header(head: bytes) -> list[str]:
    """Column names in the first row of a file that begins with `head`; empty when there is none."""
    text = head[:HEAD_BYTES].decode("utf-8-sig", "replace").lstrip("\r\n")
    try:
        return next(csv.reader(io.StringIO(text, newline="")), [])
    except csv.Error:
        return []


def plain_name(name: str) -> str:
    """A column name without unit, case and punctuation: ``starttime`` for ``Start Time(us)``."""
    return re.sub(r"[^a-z0-9]", "", _UNIT.sub("", name).lower())


def _unit(name: str) -> str:
    """The unit in a column's head, empty when there is none."""
    found = _UNIT.search(name)
    return found.group(1) if found else ""


def _read(path: Path, sink: Sink) -> bytes:
    with ByteStream(path) as stream:
        data = b"".join(iter(lambda: stream.read(READ_BYTES), b""))
        if stream.damage:
            sink.quality(stream.damage_code, example=stream.damage, file=path)
    return data.replace(b"\0", b" ")


def _read_fast(data: bytes, width: int) -> tuple[list[pa.Array], list[tuple[int, bytes]]] | None:
    """Columns (heads included) and bad rows; None where rows have to be read one by one.

    That is where quotes are damaged, so that rows run into each other, and where text is not UTF-8: pyarrow cannot
    hand over a bad row then.
    """
    if not _well_quoted(data) or not _is_utf8(data):
        return None
    bad: list[bytes] = []

    def keep(row: Any) -> str:
        bad.append(row.text.encode("utf-8", "surrogateescape"))
        return "skip"

    names = [f"f{at}" for at in range(width)]
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(use_threads=False, column_names=names, block_size=MAX_ROW_BYTES),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=keep),
            convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    if any(b"\n" in text.rstrip(b"\r\n") for text in bad):
        return None
    places: list[tuple[int, bytes]] = []
    for text in bad:
        after = places[-1][0] + 1 if places else 0
        places.append((data.find(text.rstrip(b"\r\n"), after), text))
    return [_joined(table.column(name)) for name in names], places


def _well_quoted(data: bytes) -> bool:
    """Whether every quote opens or closes a cell, or is one of two inside of one.

    Counted from 0, quotes with an even number open: before them stands a border, or the other half of a pair.
    """
    letters = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    border = np.zeros(256, np.bool_)
    border[list(b',\r\n"')] = True
    opening, closing = quotes[::2], quotes[1::2]
    before, after = opening[opening > 0] - 1, closing[closing < len(data) - 1] + 1
    return len(opening) == len(closing) and bool(border[letters[before]].all() and border[letters[after]].all())


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_slowly(data: bytes, width: int) -> tuple[list[list[bytes]], list[tuple[int, bytes]]]:
    """Rows with `width` cells (heads included), and (offset, text) of the lines that are no such row."""
    rows: list[list[bytes]] = []
    bad: list[tuple[int, bytes]] = []
    place = 0
    while place < len(data):
        if data[place] in b"\r\n":
            place += 1
            continue
        row, end = _row(data, place, width)
        if row is None:
            line_end = data.find(b"\n", place)
            end = len(data) if line_end < 0 else line_end + 1
            bad.append((place, data[place:end].strip()))
        else:
            rows.append(row)
        place = end
    if bad and (not rows or bad[0][0] == 0):
        rows.insert(0, [b""] * width)  # stands for the heads, which the caller takes away
    return rows, bad


def _row(data: bytes, place: int, width: int) -> tuple[list[bytes] | None, int]:
    """The cells of the row at `place` and where it ends; None where it is not well-formed with `width` cells."""
    limit = min(len(data), place + MAX_ROW_BYTES)
    cells: list[bytes] = []
    while len(cells) < width:
        field = _FIELD.match(data, place, limit)
        if field is None:
            return None, place
        quoted, bare, after = field.groups()
        cells.append(quoted.replace(b'""', b'"') if quoted is not None else bare or b"")
        place = field.end()
        if after != b",":
            break
    else:
        return None, place
    return (cells if len(cells) == width else None), place


def _joined(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _decoded(column: pa.Array, path: Path, sink: Sink) -> pa.Array:
    """Bytes as text; what is not UTF-8 becomes replacement characters and is counted."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        cells = column.to_pylist()
        texts = [cell.decode("utf-8", "replace") for cell in cells]
        damaged = [text for text, cell in zip(texts, cells, strict=True) if text.encode() != cell]
        sink.quality("not-utf8", count=len(damaged), example=damaged[0][:80], file=path)
        return pa.array(texts, pa.string())


def _trimmed(text: pa.Array, around: str) -> pa.Array:
    text = pc.utf8_trim(text, around)
    return pc.if_else(pc.is_in(text, pa.array(BLANKS)), None, text)


def _mask(values: pa.Array) -> Bool:
    return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def _decimal(text: pa.Array, scale: int) -> tuple[I64, Bool]:
    """Decimal texts times a power of ten, rounded half to even, and which are numbers."""
    digits = len(str(scale)) - 1
    plain = pc.match_substring_regex(text, _PLAIN).fill_null(False)
    known = _mask(plain)
    exact = pc.if_else(plain, text, None).cast(pa.decimal256(76, 24))
    rounded = pc.round(exact, ndigits=digits, round_mode="half_to_even").cast(pa.decimal128(38, digits))
    values, fits = _unscaled(rounded)
    known &= fits
    values = np.where(known, values, 0)
    for at in np.flatnonzero(_mask(text.is_valid()) & ~known):
        unit: dict[int, TimeUnit] = {1: "ns", 10**3: "us", 10**6: "ms", 10**9: "s"}
        number = ns_from_text(text[int(at)].as_py(), unit[scale])
        if number is not None:
            values[at], known[at] = number, True
    return values, known


def _unscaled(numbers: pa.Array) -> tuple[I64, Bool]:
    """The whole numbers behind decimal128 values, and which fit into int64 (a null has no value)."""
    words = np.frombuffer(numbers.buffers()[1], np.int64)[2 * numbers.offset :][: 2 * len(numbers)].reshape(-1, 2)
    return words[:, 0], (words[:, 1] == words[:, 0] >> 63) & _mask(numbers.is_valid())


def _natural(bare: pa.Array, text: pa.Array) -> pa.Array:
    """A column in the one type that holds all its cells."""
    if bare.null_count == len(bare):
        return pa.nulls(len(bare))
    if pc.all(pc.match_substring_regex(bare, r"^-?\d{1,18}$")).as_py():
        return bare.cast(pa.int64())
    if not pc.all(pc.match_substring_regex(bare, _NUMBER)).as_py():
        return text
    numbers = bare.cast(pa.float64())
    if pc.max(pc.abs(numbers)).as_py() < EXACT_FLOAT or not pc.all(pc.match_substring_regex(bare, _PLAIN)).as_py():
        return numbers
    return pc.round(bare.cast(pa.decimal256(76, 24)), ndigits=6).cast(pa.decimal128(38, 6))
