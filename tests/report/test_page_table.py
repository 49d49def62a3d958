from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.report.small_tables import parts, sizes
from trainwright.core.result import Evidence, Finding, Result
from trainwright.report.page_table import finding_view, table_view


def test_cells_carry_the_exact_value_behind_what_is_shown() -> None:
    view = table_view(parts((3, "a<b", 12_345_678, None)), top=None)

    assert "<tr><td data-v>3<td>a&lt;b<td data-v=12345678>12.346 ms<td data-v>-" in view
    assert '<th scope="col" class="n" title="a_ns: a ns"><button type="button">a</button></th>' in view
    assert '<th scope="col" title="name: name">' in view


def test_rows_after_the_top_are_hidden_and_can_be_shown() -> None:
    view = table_view(sizes((f"n{at}", at) for at in range(5)), top=2)

    assert view.count("<tr><td>") == 2
    assert view.count("<tr hidden><td>") == 3
    assert "show all 5" in view
    assert "<output>2 of 5 rows</output>" in view


def test_the_heaviest_rows_come_first_and_the_others_are_hidden() -> None:
    table = sizes((f"n{at}", size) for at, size in enumerate((3, 9, 1, 7)))
    view = table_view(replace(table, spec=replace(table.spec, weight=("bytes",))), top=2)

    assert re.findall(r"<tr( hidden)?><td>(n\d)", view) == [
        ("", "n1"),
        ("", "n3"),
        (" hidden", "n0"),
        (" hidden", "n2"),
    ]


@pytest.mark.parametrize("top", [None, 5, 9])
def test_nothing_is_hidden_when_all_fits(top: int | None) -> None:
    view = table_view(sizes((f"n{at}", at) for at in range(5)), top=top)

    assert "hidden" not in view
    assert "show all" not in view


def test_a_page_holds_a_bounded_part_of_a_long_table_and_says_so() -> None:
    view = table_view(sizes((f"n{at}", at) for at in range(10_000)), top=10)

    assert len(re.findall(r"<tr[^>]*><td", view)) == 2000
    assert "8,000 more rows are not on this page" in view
    assert "<output>10 of 10,000 rows</output>" in view


def test_rows_that_were_not_fetched_are_counted() -> None:
    view = table_view(replace(sizes([("a", 1)]), unread=9000, unread_or_more=True), top=10)

    assert "at least 9,000 more rows are not on this page" in view
    assert "<output>1 of at least 9,001 rows</output>" in view


def test_a_long_cell_is_cut_and_says_so() -> None:
    view = table_view(sizes([("x" * 5000, 1)]), top=None)

    assert f"<td>{'x' * 1000}… (4,000 more characters)<td" in view


def test_evidence_is_shown_under_the_columns_of_its_table() -> None:
    def finding(*rows: tuple[object, ...]) -> Finding:
        return Finding(code="c", severity="error", title="t", evidence=Evidence(table="sizes", rows=rows))  # type: ignore[arg-type]

    result = Result(tables=(sizes([]),))

    known = finding_view(finding(*((f"n{at}", 2048) for at in range(7))), result)
    assert "evidence: 5 of 7 rows of sizes" in known
    assert known.count("2.00 KiB") == 5
    other = finding_view(finding(("<b>", 1, 2)), result)
    assert "<li>&lt;b&gt;, 1, 2</li>" in other
    assert "evidence" not in finding_view(finding(), result)
