from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.sample_page import sample_page
from tests.report.small_tables import page_of, parts, sizes
from trainwright.core.result import Finding, Quality, Result, Where
from trainwright.report.renderer import RENDERERS, Page
from trainwright.report.text_table import cell_width

CONSOLE = RENDERERS["console"]


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))


def test_a_whole_page_as_text() -> None:
    page = Page(
        command="test",
        title="Title",
        subtitle="of a run",
        result=Result(
            tables=(parts((0, "mm", 3_000_000, 1_000_000), (1, "add", 2_000_000, 0)), sizes([])),
            findings=(
                Finding(
                    code="c", severity="warning", title="Slow", detail="It waits.", advice="Do not.", saving_ns=1500,
                    where=Where(rank=1),
                ),
            ),
            quality=(Quality(code="lost", count=3, example="x", file="f"), Quality(code="lost", count=1, file="g")),
        ),
        top=1,
        next_steps=("trainwright advise x",),
    )  # fmt: skip

    assert CONSOLE.render(page) == (
        "Title\nof a run\n"
        "\nParts · parts\nTwo parts of a time.\n"
        "█ a   ▓ b\nthe first 1 of 2 rows\n"
        f"rank 0  {'█' * 60}{'▓' * 20}  4.000 ms\n"
        "\nrank  name         a         b\n────  ────  ────────  ────────\n"
        "   0  mm    3.000 ms  1.000 ms\n"
        "… 1 more rows (use --top 0 or --json)\n"
        "\nno rows: sizes\n"
        "\nFindings\nWARNING Slow\n  rank 1 · saves 1.500 us\n  It waits.\n  → Do not.\n"
        "\ninput quality: 1 kind of trouble, 4 cases\n  lost × 4 in 2 files: x\n"
        "\nNext\n  trainwright advise x\n"
    )


def test_rows_that_were_not_fetched_are_counted() -> None:
    table = replace(sizes((f"n{at}", at) for at in range(5)), unread=1000)
    assert "… 1,003 more rows" in CONSOLE.render(page_of(table, top=2))
    assert "… at least 1,000 more rows" in CONSOLE.render(page_of(replace(table, unread_or_more=True), top=5))


def test_of_many_rows_the_heaviest_are_shown_with_their_bars() -> None:
    table = parts((0, "mm", 1_000_000, 0), (0, "add", 2_000_000, 0), (1, "mm", 9_000_000, 0))
    text = CONSOLE.render(page_of(replace(table, spec=replace(table.spec, weight=("a_ns",))), top=2))
    assert "the largest 2 of 3 rows\n" in text
    assert text.index("   0  add") < text.index("   1  mm")
    assert "   0  mm" not in text
    assert "… 1 more rows with less a (use --top 0 or --json)" in text


def test_without_a_limit_all_rows_are_there() -> None:
    text = CONSOLE.render(sample_page(top=None))

    assert "more rows" not in text
    assert text.count("hcom_allReduce__586_0_1") == 9  # a row of each rank, and a finding


def test_findings_and_kinds_of_trouble_are_bounded_too() -> None:
    text = CONSOLE.render(sample_page(top=1))

    assert "… 2 more findings" in text
    assert "… 2 more kinds" in text


@pytest.mark.parametrize("width", [20, 37, 80, 120, 300])
def test_no_line_is_wider_than_columns_says(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))

    lines = CONSOLE.render(sample_page()).split("\nNext\n")[0].splitlines()  # commands are never broken

    assert max(map(cell_width, lines)) <= width


@pytest.mark.parametrize("columns", ["", "x", "0", "-5"])
def test_a_useless_width_is_ignored(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert CONSOLE.render(sample_page())


def test_names_cannot_reach_the_terminal_or_be_mark_up(monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "[red]x[/red]\x1b]0;owned\x07\x9b2J\u202e\r\n"
    finding = Finding(code="c", severity="error", title=evil, detail=evil, advice=evil, where=Where(op=evil))
    result = Result(
        tables=(sizes([(evil, 1)]),),
        findings=(finding,),
        quality=(Quality(code="c", count=1, example=evil, file=evil),),
    )
    page = Page(command="x", title=evil, subtitle=evil, result=result, next_steps=(evil,))

    plain = CONSOLE.render(page)
    monkeypatch.setattr(sys, "stdout", _Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured = re.sub(r"\x1b\[[\d;]*m", "", CONSOLE.render(page))

    for text in (plain, coloured):
        assert "[red]x[/red]" in text
        assert "\\x1b]0;owned\\x07" in text
        assert all(char == "\n" or char.isprintable() for char in text)


def test_colours_only_in_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in CONSOLE.render(sample_page())

    monkeypatch.setattr(sys, "stdout", _Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1mWhere the time goes\x1b[0m" in CONSOLE.render(sample_page())

    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in CONSOLE.render(sample_page())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in CONSOLE.render(sample_page())


def test_an_ascii_terminal_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))

    text = CONSOLE.render(page_of(parts((0, "é", 3, 1))))

    assert text.isascii()
    assert "#" * 60 + "=" * 20 in text


def test_a_file_has_no_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", _Terminal())

    (path,) = CONSOLE.write(sample_page(), tmp_path / "a.txt")

    assert "\x1b" not in path.read_text(encoding="utf-8")


def test_importing_the_renderers_does_not_import_rich() -> None:
    code = (
        "import sys; from trainwright.report.renderer import RENDERERS; RENDERERS['console'];"
        "assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
