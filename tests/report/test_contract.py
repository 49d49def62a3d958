from __future__ import annotations

import math

import numpy as np
import pytest

from tests.report.small_tables import parts, sizes
from trainwright.core.result import Evidence, Finding, Quality, Result, Where
from trainwright.report.contract import answer, finding_record, quality_record, strict, table_record


def test_an_answer_has_the_keys_of_the_contract_in_order() -> None:
    record = answer("analyze", Result(tables=(sizes([("a", 1)]),), extra={"store": "here"}))

    assert record == {
        "schema": "trainwright/1",
        "command": "analyze",
        "tables": {"sizes": {"columns": ["name", "bytes"], "rows": [["a", 1]]}},
        "findings": [],
        "quality": [],
        "store": "here",
    }
    assert list(record) == ["schema", "command", "tables", "findings", "quality", "store"]


def test_numbers_that_json_lacks_become_null_and_are_counted() -> None:
    record = table_record(parts((0, "x", math.nan, np.float64(-math.inf)), (1, "y", None, 2), (2, "z", 3, math.inf)))

    assert record["rows"] == [[0, "x", None, None], [1, "y", None, 2], [2, "z", 3, None]]
    assert record["non_finite"] == {"a_ns": 1, "b_ns": 2}


def test_integers_stay_integers() -> None:
    (row,) = table_record(sizes([("a", np.int64(2**63 - 1))]))["rows"]

    assert row == ["a", 2**63 - 1]
    assert type(row[1]) is int


def test_a_finding_leaves_out_places_that_do_not_apply() -> None:
    finding = Finding(
        code="c", severity="error", title="t", where=Where(rank=0, op="mm"),
        evidence=Evidence(table="sizes", rows=(("a", math.nan),)),
    )  # fmt: skip

    assert finding_record(finding) == {
        "code": "c", "severity": "error", "title": "t", "detail": "", "advice": "", "saving_ns": None,
        "where": {"rank": 0, "op": "mm"}, "evidence": {"table": "sizes", "rows": [["a", None]]},
    }  # fmt: skip
    assert finding_record(Finding(code="c", severity="info", title="t"))["evidence"] is None


def test_a_finding_about_source_text_says_before_and_after() -> None:
    finding = Finding(
        code="c", severity="info", title="t", safety="safe", before="a", after="b", source="s", end=(1, 2)
    )
    record = finding_record(finding)
    assert (record["safety"], record["before"], record["after"], record["source"]) == ("safe", "a", "b", "s")
    assert "end" not in record


def test_a_quality_entry_has_all_keys() -> None:
    expected = {"code": "c", "count": 2, "example": "e\ufffd", "file": "", "offset": None}
    assert quality_record(Quality(code="c", count=2, example="e\ud800")) == expected


def test_extra_values_may_be_nested() -> None:
    assert strict({"first": {"rank": np.int64(1)}, "list": (1, math.inf)}) == {"first": {"rank": 1}, "list": [1, None]}


def test_our_own_mistakes_are_caught() -> None:
    with pytest.raises(AssertionError, match="hides"):
        answer("x", Result(extra={"tables": 1}))
    with pytest.raises(AssertionError, match="one name"):
        answer("x", Result(tables=(sizes([]), sizes([]))))
