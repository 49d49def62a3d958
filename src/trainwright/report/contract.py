"""A result as the machine-readable answer, schema ``trainwright/1``.

``{"schema", "command", "tables": {NAME: {"columns", "rows"}}, "findings", "quality"}`` and the keys of the command.
JSON knows neither NaN nor Infinity: they become null, and their number stands beside the rows of the table, as
``"non_finite": {COLUMN: COUNT}``, which is there only when there are any.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from trainwright.core.result import Cell, Evidence, Finding, Quality, Result, Table
from trainwright.core.text import encodable
from trainwright.report.cells import plain

SCHEMA = "trainwright/1"


def answer(command: str, result: Result) -> dict[str, Any]:
    """The whole answer, of plain values only, in the order of the result.

    Two tables of one name, or a key of the command that hides one of the contract, are our own bugs.
    """
    tables = {table.name: table_record(table) for table in result.tables}
    assert len(tables) == len(result.tables), "two tables of one name"
    record = {
        "schema": SCHEMA,
        "command": command,
        "tables": tables,
        "findings": [finding_record(finding) for finding in result.findings],
        "quality": [quality_record(entry) for entry in result.quality],
    }
    assert not record.keys() & result.extra.keys(), "a key of the command hides one of the contract"
    return record | {key: strict(value) for key, value in result.extra.items()}


def table_record(table: Table) -> dict[str, Any]:
    """``columns`` and ``rows`` of one table, and ``non_finite`` when numbers had to become null."""
    lost: Counter[str] = Counter()
    rows = []
    for row in table.rows:
        cells = [plain(cell) for cell in row]
        for at, cell in enumerate(cells):
            if isinstance(cell, float) and not math.isfinite(cell):
                cells[at] = None
                lost[table.spec.columns[at].name] += 1
            elif isinstance(cell, str):
                cells[at] = encodable(cell)
        rows.append(cells)
    record: dict[str, Any] = {"columns": table.column_names, "rows": rows}
    if lost:
        record["non_finite"] = {name: lost[name] for name in table.column_names if name in lost}
    return record


def finding_record(finding: Finding) -> dict[str, Any]:
    """One finding; keys of ``where`` that do not apply are absent, and so are those of source text elsewhere."""
    record = {
        "code": finding.code,
        "severity": finding.severity,
        "title": strict(finding.title),
        "detail": strict(finding.detail),
        "advice": strict(finding.advice),
        "saving_ns": strict(finding.saving_ns),
        "where": {key: strict(value) for key, value in asdict(finding.where).items() if value is not None},
        "evidence": _evidence_record(finding.evidence),
    }
    if finding.safety is not None:
        record |= {key: strict(getattr(finding, key)) for key in ("safety", "before", "after", "source")}
    return record


def quality_record(entry: Quality) -> dict[str, Any]:
    """One note on the input; ``offset`` is null where there is none."""
    return {key: strict(value) for key, value in asdict(entry).items()}


def strict(value: object) -> Any:
    """Any value out of mappings, sequences and cells as plain JSON values; non-finite numbers become null."""
    if isinstance(value, Mapping):
        return {encodable(str(key)): strict(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [strict(item) for item in value]
    return _strict_cell(plain(value))


def _strict_cell(cell: Cell) -> Cell:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return encodable(cell) if isinstance(cell, str) else cell


def _evidence_record(evidence: Evidence | None) -> dict[str, Any] | None:
    return None if evidence is None else {"table": evidence.table, "rows": _rows(evidence.rows)}


def _rows(rows: Iterable[Sequence[Cell]]) -> list[list[Cell]]:
    return [[_strict_cell(plain(cell)) for cell in row] for row in rows]
