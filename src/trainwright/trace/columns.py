"""Growing typed columns: batches go in, one Arrow table per schema comes out.

Text is dictionary encoded as it arrives, so a name that occurs a million times is kept once.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.text import encodable
from trainwright.trace.reader import ColumnData
from trainwright.trace.schema import ColumnSchema, ColumnType, TableSchema

NUMPY_TYPES: dict[ColumnType, Any] = {
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "f64": np.float64,
    "bool": np.bool_,
    "text": np.int32,
}
#: Code of a null text.
NULL = -1


class TextPool:
    """Distinct texts and their codes, in order of first appearance."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def code(self, text: str | None) -> int:
        """The code of one text; `NULL` for None."""
        return NULL if text is None else self._codes.setdefault(text, len(self._codes))

    def texts(self) -> list[str]:
        """All texts, by code."""
        return list(self._codes)

    def encode(self, data: ColumnData, rows: int) -> npt.NDArray[np.int32]:
        """Codes, (rows,), of a column of text."""
        if data is None or isinstance(data, str):
            return np.full(rows, self.code(data), np.int32)
        if isinstance(data, pa.ChunkedArray):
            data = data.combine_chunks()
        if isinstance(data, pa.Array):
            encoded = data if isinstance(data, pa.DictionaryArray) else data.dictionary_encode()
            own = np.array([*map(self.code, encoded.dictionary.to_pylist()), NULL], np.int32)
            indices = encoded.indices.fill_null(len(own) - 1) if encoded.indices.null_count else encoded.indices
            return np.asarray(own[indices.to_numpy(zero_copy_only=False)], np.int32)
        if isinstance(data, np.ndarray) and data.dtype.kind != "O":
            distinct, inverse = np.unique(data, return_inverse=True)
            return np.array([self.code(str(text)) for text in distinct], np.int32)[inverse]
        assert not isinstance(data, int | float | bool), f"text column given {data!r}"
        return np.fromiter(map(self.code, data), np.int32, count=rows)


class TableBuffer:
    """Batches of rows for one table."""

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.rows = 0
        self.pools = {column.name: TextPool() for column in schema.columns if column.type == "text"}
        self._parts: dict[str, list[npt.NDArray[Any]]] = {column.name: [] for column in schema.columns}

    def add(self, columns: Mapping[str, ColumnData]) -> None:
        """Append rows; scalars are repeated, columns left out take the default of the schema."""
        unknown = set(columns) - set(self._parts)
        assert not unknown, f"table {self.schema.name} has no column {', '.join(sorted(unknown))}"
        rows = _row_count(columns)
        for column in self.schema.columns:
            data = columns.get(column.name, column.default)
            part = self._encode(column, data, rows)
            assert len(part) == rows, f"{self.schema.name}.{column.name} has {len(part)} rows, expected {rows}"
            self._parts[column.name].append(part)
        self.rows += rows

    def _encode(self, column: ColumnSchema, data: ColumnData, rows: int) -> npt.NDArray[Any]:
        if column.type == "text":
            return self.pools[column.name].encode(data, rows)
        dtype = NUMPY_TYPES[column.type]
        if data is None:
            assert column.type == "f64", f"{self.schema.name}.{column.name} needs a value"
            data = np.nan
        if isinstance(data, int | float | np.generic):
            return np.full(rows, data, dtype)
        if isinstance(data, pa.Array | pa.ChunkedArray):
            whole: Any = data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data
            filled = whole if column.default is None else whole.fill_null(column.default)
            data = filled.to_numpy(zero_copy_only=False)
        array = np.asarray(data)
        assert array.dtype.kind != "f" or column.type == "f64", f"{self.schema.name}.{column.name} given floats"
        return array.astype(dtype, copy=False)

    def take(self, name: str) -> npt.NDArray[Any]:
        """The whole column, (rows,); its batches are given up."""
        parts = self._parts[name]
        self._parts[name] = []
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, NUMPY_TYPES[self.schema.column(name).type])

    def shift(self, name: str, by: int) -> None:
        """Add `by` to a column of integers, leaving "not recorded" (-1) as it is where that is the default."""
        keep = self.schema.column(name).default
        self._parts[name] = [
            part + by if keep != NULL else np.where(part == NULL, NULL, part + by) for part in self._parts[name]
        ]

    def texts(self, name: str) -> list[str]:
        """The texts of a text column, by code."""
        return self.pools[name].texts()


def arrow_table(
    schema: TableSchema, columns: Mapping[str, npt.NDArray[Any]], texts: Mapping[str, Sequence[str]]
) -> pa.Table:
    """An Arrow table out of numpy columns and the texts of its text columns; no copy of numbers."""
    arrays = []
    for column in schema.columns:
        data = columns[column.name]
        if column.type == "text":
            arrays.append(_dictionary(data, texts[column.name]))
        else:
            arrays.append(pa.array(data))
    return pa.table(arrays, names=[column.name for column in schema.columns])


def arrow_array(data: ColumnData) -> pa.Array:
    """The values in the Arrow type that fits them; lone surrogates, which Arrow cannot hold, are replaced."""
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return data
    try:
        return pa.array(data)
    except UnicodeEncodeError:
        return pa.array([encodable(value) if isinstance(value, str) else value for value in data])  # type: ignore[union-attr]


def join_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Rows of tables with columns of one meaning; a column whose types have nothing in common becomes text."""
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        types: dict[str, set[pa.DataType]] = {}
        for table in tables:
            for field in table.schema:
                types.setdefault(field.name, set()).add(field.type)
        mixed = {name for name, kinds in types.items() if len(kinds) > 1}
        return pa.concat_tables([_with_text(table, mixed) for table in tables], promote_options="permissive")


def _with_text(table: pa.Table, names: Container[str]) -> pa.Table:
    for at, name in enumerate(table.column_names):
        if name in names:
            table = table.set_column(at, name, _as_text(table.column(at)))
    return table


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.chunked_array([[None if value is None else str(value) for value in column.to_pylist()]], pa.string())


def _dictionary(codes: npt.NDArray[np.int32], texts: Sequence[str]) -> pa.DictionaryArray:
    """A dictionary array whose index buffer is `codes` itself, `NULL` entries marked invalid."""
    valid = codes >= 0
    nulls = len(codes) - int(np.count_nonzero(valid))
    bitmap = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes()) if nulls else None
    indices = pa.Array.from_buffers(pa.int32(), len(codes), [bitmap, pa.py_buffer(np.ascontiguousarray(codes))], nulls)
    return pa.DictionaryArray.from_arrays(indices, _text_array(texts))


def _text_array(texts: Sequence[str]) -> pa.StringArray:
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return pa.array(list(map(encodable, texts)), pa.string())


def _row_count(columns: Mapping[str, ColumnData]) -> int:
    for data in columns.values():
        if data is not None and not isinstance(data, str | int | float | bool | np.generic):
            return len(data)
    return 1
