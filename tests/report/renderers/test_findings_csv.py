from __future__ import annotations

import csv
import io
from pathlib import Path

from trainwright.core.result import Finding, Result, Where
from trainwright.report.renderer import RENDERERS, Page

CSV = RENDERERS["findings-csv"]


def rows(*findings: Finding) -> list[dict[str, str]]:
    text = CSV.render(Page(command="migrate", title="t", result=Result(findings=findings)))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_no_findings_leave_the_header() -> None:
    assert rows() == []


def test_every_finding_is_a_row_and_no_cell_is_a_formula(tmp_path: Path) -> None:
    finding = Finding(
        code="TW101", severity="info", title="=cmd()", safety="safe", before='a,"b"\n', after="@x",
        where=Where(file="a.py", line=3, column=1),
    )  # fmt: skip
    (row,) = rows(finding)
    assert (row["title"], row["before"], row["after"], row["line"]) == ("'=cmd()", 'a,"b"\n', "'@x", "3")
    page = Page(command="migrate", title="t", result=Result(findings=(finding,)))
    (path,) = CSV.write(page, tmp_path / "x.csv")
    assert path.read_bytes().decode() == CSV.render(page)
