from __future__ import annotations

import pytest

from tests.report.sample_page import column
from trainwright.core.result import Quality, Where
from trainwright.report.wording import heading, human, place, printable, shortened, trouble


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aten::mm", "aten::mm"),
        ("矩阵 é", "矩阵 é"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\x9b2J", "\\x9b2J"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_becomes_a_code(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_kept_characters_stay() -> None:
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"


def test_values_are_shown_in_their_unit() -> None:
    assert human(8_868_000, column("free_ns", "ns")) == "8.868 ms"
    assert human(None, column("free_ns", "ns")) == "-"
    assert human("x\x07", column("name", "text")) == "x\\x07"


def test_a_heading_leaves_out_the_unit_that_values_show() -> None:
    assert heading(column("free_ns", "ns")) == "free"
    assert heading(column("peak_bytes", "bytes")) == "peak"
    assert heading(column("ns", "ns")) == "ns"
    assert heading(column("odd_ns", "count")) == "odd_ns"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(10, "abcdefghij"), (9, "abcd…ghij"), (8, "abcd…hij"), (3, "a…j"), (2, "a…"), (1, "…"), (0, "")],
)
def test_the_middle_of_a_long_text_goes_first(limit: int, expected: str) -> None:
    assert shortened("abcdefghij", limit) == expected
    assert len(shortened("abcdefghij", limit)) == min(limit, 10)


def test_places_name_only_what_applies() -> None:
    assert place(Where()) == ""
    assert (
        place(Where(rank=0, step=2, op="mm", file="a.py", line=3, column=0)) == "rank 0, step 2, operator mm, a.py:3:0"
    )
    assert place(Where(file="a.py", column=4)) == "a.py"


def test_trouble_counts_kinds_and_cases() -> None:
    assert trouble([]) == "no trouble"
    assert trouble([Quality(code="a", count=1)]) == "1 kind of trouble, 1 case"
    entries = [Quality(code="a", count=1000), Quality(code="b", count=5), Quality(code="a", count=7)]
    assert trouble(entries) == "2 kinds of trouble, 1,012 cases"
