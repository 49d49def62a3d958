"""Values of any type become typed columns, without losing digits and without failing on damage."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from trainwright.trace.reported_rows import column, document_rows
from trainwright.trace.schema import table_name

EPOCH_US = Decimal("1695115378810042.508")


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, None, 3], "int64", [1, None, 3]),
        ([1, 2.5], "double", [1.0, 2.5]),
        ([2**63], "string", [str(2**63)]),
        ([True, None], "bool", [True, None]),
        ([1, "a"], "string", ["1", "a"]),
        ([[1, 2], {"a": Decimal("0.5")}], "string", ["[1, 2]", '{"a": 0.5}']),
        ([EPOCH_US, 1], "decimal128(38, 6)", [EPOCH_US, Decimal(1)]),
        ([Decimal("0.5"), 1], "double", [0.5, 1.0]),
        ([Decimal("1e40"), EPOCH_US], "double", [1e40, float(EPOCH_US)]),
        ([Decimal("1e999"), Decimal("-1e999")], "double", [math.inf, -math.inf]),
        ([None, None], "int64", [None, None]),
    ],
)
def test_columns(values: list[Any], kind: str, expected: list[Any]) -> None:
    found = column(values)
    assert str(found.type) == kind
    assert found.to_pylist() == expected


@pytest.mark.parametrize(
    ("document", "rows"),
    [
        ([{"a": 1}, 2], [{"a": 1}, {"value": 2}]),
        ({"a": 1, "b": "x"}, [{"a": 1, "b": "x"}]),
        ({"a": [1, 2], "b": [3, 4]}, [{"a": 1, "b": 3}, {"a": 2, "b": 4}]),
        ({"a": [1, 2], "b": [3]}, [{"key": "a", "value": 1}, {"key": "a", "value": 2}, {"key": "b", "value": 3}]),
        ({"x": {"y": {"z": {"deep": {"er": 1}}}}}, [{"key": "x", "key_2": "y", "key_3": "z", "deep": {"er": 1}}]),
        ({}, [{}]),
        (5, [{"value": 5}]),
    ],
)
def test_documents(document: object, rows: list[dict[str, Any]]) -> None:
    assert document_rows(document) == rows


def test_names_are_safe_as_file_names() -> None:
    assert table_name("../a b.c") == "___a_b_c"
    assert len(table_name("x" * 500)) == 100
