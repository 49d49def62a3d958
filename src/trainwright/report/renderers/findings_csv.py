"""The findings as one CSV file for a spreadsheet, raw values, safe to open (see `csv_text`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainwright.core.result import Cell, Finding
from trainwright.report.atomic import write_file
from trainwright.report.csv_text import csv_text
from trainwright.report.renderer import Page

_COLUMNS = (
    "code", "severity", "safety", "title", "file", "line", "column", "detail", "advice", "before", "after", "source",
)  # fmt: skip
#: How every file begins: by this we know one of ours.
_MARK = csv_text(_COLUMNS, ())


@dataclass(frozen=True, kw_only=True)
class FindingsCsv:
    """The renderer: all findings, in the order of the result."""

    code: str = "findings-csv"
    summary: str = "All findings in one CSV file."
    target: Literal["text", "file", "folder"] = "file"

    def render(self, page: Page) -> str:
        """The file as text."""
        return csv_text(_COLUMNS, map(_row, page.result.findings))

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the findings to a file."""
        return [write_file(path, self.render(page), mark=_MARK, force=force)]


def _row(finding: Finding) -> tuple[Cell, ...]:
    where = finding.where
    return (
        finding.code, finding.severity, finding.safety, finding.title, where.file, where.line, where.column,
        finding.detail, finding.advice, finding.before, finding.after, finding.source,
    )  # fmt: skip


RENDERER = FindingsCsv()
