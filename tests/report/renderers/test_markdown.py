from __future__ import annotations

from pathlib import Path

from tests.report.sample_page import sample_page
from tests.report.small_tables import page_of, sizes
from trainwright.core.result import Finding, Quality, Result, Where
from trainwright.report.renderer import RENDERERS, Page

MARKDOWN = RENDERERS["markdown"]


def test_an_empty_result_is_a_page_too() -> None:
    text = MARKDOWN.render(page_of(sizes([])))
    assert text.startswith("# ")
    assert "##" not in text


def test_findings_show_before_and_after_as_a_diff() -> None:
    finding = Finding(
        code="TW101", severity="info", title="a device", safety="safe", before="x = cuda\ny", after="x = npu\ny",
        where=Where(file="a.py", line=3, column=1), source="a table",
    )  # fmt: skip
    text = MARKDOWN.render(Page(command="migrate", title="t", result=Result(findings=(finding,))))
    assert (
        "### INFO TW101 a device\n\na.py:3:1\n\nEvidence: a table\n\n```diff\n- x = cuda\n+ x = npu\n  y\n```\n" in text
    )


def test_nothing_in_a_name_is_mark_up() -> None:
    evil = "<script>|*x*_[a](b)`\n# head\n```"
    finding = Finding(
        code=evil, severity="error", title=evil, detail=evil, advice=evil, before=f"{evil}\n````", safety="display"
    )
    result = Result(
        tables=(sizes([(evil, 1)]),), findings=(finding,), quality=(Quality(code=evil, count=1, file=evil),)
    )
    text = MARKDOWN.render(Page(command="x", title=evil, subtitle=evil, result=result))
    outside, fence = [], ""
    for line in text.splitlines():
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if line == fence else fence
        elif len(ticks) >= 3:
            fence = ticks
        else:
            outside.append(line)
    assert fence == ""
    assert not [line for line in outside if "<script>" in line or line == "# head" or "[a](b)" in line]
    row = next(line for line in outside if line.startswith("| ") and "script" in line)
    assert row.replace("\\|", "").count("|") == 3


def test_a_large_page_is_bounded_and_equal_results_give_equal_text(tmp_path: Path) -> None:
    table = sizes([(f"n{number}", number) for number in range(1000)])
    text = MARKDOWN.render(page_of(table))
    assert "800 more rows are not on this page" in text
    assert text == MARKDOWN.render(page_of(table))
    (path,) = MARKDOWN.write(sample_page(), tmp_path / "page.md")
    assert "Rank 3 computes" in path.read_text(encoding="utf-8")
