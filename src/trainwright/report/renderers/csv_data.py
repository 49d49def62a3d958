"""CSV for spreadsheets: a folder with one file per table, raw values, safe to open (see `csv_text`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainwright.core.result import Cell, Finding, Result
from trainwright.report.atomic import write_folder
from trainwright.report.csv_text import csv_text
from trainwright.report.renderer import Page

_QUALITY = ("code", "count", "example", "file", "offset")
_FINDINGS = (
    "code", "severity", "title", "detail", "advice", "saving_ns", "rank", "step", "op", "module", "file", "line",
    "column", "evidence_table",
)  # fmt: skip
#: By this file, always written, we know a folder of ours.
_MARK = ("quality.csv", ",".join(_QUALITY) + "\r\n")


@dataclass(frozen=True, kw_only=True)
class CsvData:
    """The renderer: all rows and columns of every table, whatever ``page.top``, and ``findings`` and ``quality``."""

    code: str = "csv-data"
    summary: str = "One CSV file per table in a folder, raw values."
    target: Literal["text", "file", "folder"] = "folder"

    def render(self, page: Page) -> str:
        """All files after one another, each under a line with its name."""
        return "\r\n".join(f"{name}\r\n{text}" for name, text in _files(page.result).items())

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the folder; with `force` it takes the place of one written before."""
        return write_folder(path, _files(page.result), mark=_MARK, force=force)


def _files(result: Result) -> dict[str, str]:
    files = {}
    for table in result.tables:
        files[_file_name(table.name)] = csv_text(table.column_names, table.rows)
    quality = [(entry.code, entry.count, entry.example, entry.file, entry.offset) for entry in result.quality]
    ours = {
        "findings.csv": csv_text(_FINDINGS, map(_finding_row, result.findings)),
        "quality.csv": csv_text(_QUALITY, quality),
    }
    assert len(files) == len(result.tables), "two tables of one file name"
    assert not files.keys() & ours.keys(), "a table takes the name of a file of ours"
    return files | ours


def _file_name(table: str) -> str:
    return re.sub(r"[^\w-]", "_", table)[:100] + ".csv"


def _finding_row(finding: Finding) -> tuple[Cell, ...]:
    where = finding.where
    return (
        finding.code, finding.severity, finding.title, finding.detail, finding.advice, finding.saving_ns, where.rank,
        where.step, where.op, where.module, where.file, where.line, where.column,
        finding.evidence.table if finding.evidence else None,
    )  # fmt: skip


RENDERER = CsvData()
