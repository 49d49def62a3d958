"""Columns out of values that Arrow does not take as they are."""

from __future__ import annotations

import pyarrow as pa

from trainwright.trace.columns import TableBuffer, arrow_array, arrow_table, join_tables
from trainwright.trace.schema import TABLES


def test_lone_surrogates_are_replaced() -> None:
    assert arrow_array(["a\ud800", None]).to_pylist() == ["a\ufffd", None]
    buffer = TableBuffer(TABLES["meta"])
    buffer.add({"key": ["a\udcff"], "value": ["{}"]})
    columns = {name: buffer.take(name) for name in ("key", "value")}
    table = arrow_table(TABLES["meta"], columns, {name: buffer.texts(name) for name in columns})
    assert table.to_pylist() == [{"key": "a\ufffd", "value": "{}"}]


def test_tables_whose_types_differ_are_joined() -> None:
    words = pa.array(["x", None])
    for first, second, joined in (
        (words, words.dictionary_encode(), ["x", None, "x", None]),
        (words, pa.array([1, 2]), ["x", None, "1", "2"]),
        (words, pa.array([[1], None]), ["x", None, "[1]", None]),
        (pa.array([1]), pa.array([0.5]), [1, 0.5]),
        (pa.nulls(1), words, [None, "x", None]),
    ):
        table = join_tables([pa.table({"a": first, "b": first}), pa.table({"a": second})])
        assert table["a"].to_pylist() == joined
        assert table["b"].to_pylist() == [*first.to_pylist(), *[None] * len(second)]
