"""Keep what a source reports, row by row, as tables for SQL: typed columns out of values of any type."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from trainwright.trace.columns import arrow_array
from trainwright.trace.reader import Sink

Row = dict[str, Any]

#: Below this a float64 still tells a thousandth apart.
EXACT_FLOAT = 2**43
#: Below this a number with six places fits into the digits of a `Decimal`.
MOST_EXACT = 10**20
INT64_LIMIT = 2**63
#: Deepest level of a document that is opened; what is below stays JSON text.
MAX_DOCUMENT_DEPTH = 3


def pour_rows(name: str, rows: Sequence[Mapping[str, Any]], sink: Sink, path: Path) -> None:
    """Pour rows, whose members may differ, as ``reported_<name>``; each counts as an event."""
    if not rows:
        return
    sink.events(len(rows))
    members = dict.fromkeys(key for row in rows for key in row)
    columns = {key: column([row.get(key) for row in rows]) for key in members}
    sink.reported(name, columns, file=path)


def column(values: Sequence[Any]) -> pa.Array:
    """An Arrow column of int64, float64, exact decimal, bool or text, whichever holds all values.

    Members that are lists or objects, and what fits no other type, become JSON text.
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and all(value is None or abs(value) < INT64_LIMIT for value in values):
        return pa.array(values, pa.int64())
    if kinds != {int} and kinds <= {int, float, Decimal}:  # ids beyond int64 stay text
        return _numbers(values, exact=Decimal in kinds)
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    return arrow_array([value if value is None or isinstance(value, str) else _json(value) for value in values])


def _numbers(values: Sequence[Any], *, exact: bool) -> pa.Array:
    """float64, or decimals with six places where a number is too large for a float64 to be exact."""
    sizes = [abs(value) for value in values if value is not None]
    if exact and all(size < MOST_EXACT for size in sizes) and any(size >= EXACT_FLOAT for size in sizes):
        places = Decimal("0.000001")
        numbers = [None if value is None else Decimal(value).quantize(places) for value in values]
        return pa.array(numbers, pa.decimal128(38, 6))
    return pa.array([None if value is None else _float(value) for value in values], pa.float64())


def _float(value: float | Decimal) -> float:
    """The nearest float64; infinite for a number beyond it."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _json(value: object) -> str:
    return json.dumps(value, default=float)


def document_rows(value: object, depth: int = 0) -> list[Row]:
    """A JSON document as the rows of one table.

    Lists give a row per item, objects of plain values one row, objects of equally long plain lists a row per position;
    other objects are opened, with their keys in the columns ``key``, ``key_2`` and so on.
    """
    if isinstance(value, list):
        return [each if isinstance(each, dict) else {"value": each} for each in value]
    if not isinstance(value, dict):
        return [{"value": value}]
    members = list(value.values())
    if depth == MAX_DOCUMENT_DEPTH or not any(isinstance(member, dict | list) for member in members):
        return [value]
    if members and all(_is_series(member, members[0]) for member in members):
        return [dict(zip(value, row, strict=True)) for row in zip(*members, strict=True)]
    column_name = "key" if depth == 0 else f"key_{depth + 1}"
    return [{column_name: key, **row} for key, member in value.items() for row in document_rows(member, depth + 1)]


def _is_series(value: object, first: object) -> bool:
    """A list of plain values, as long as the first one."""
    if not isinstance(value, list) or not isinstance(first, list) or len(value) != len(first):
        return False
    return not any(isinstance(each, dict | list) for each in value)
