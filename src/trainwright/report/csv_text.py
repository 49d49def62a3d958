"""CSV as text, safe to open: RFC 4180 in UTF-8, comma, CRLF, quotes doubled, missing values empty.

A spreadsheet runs a cell that begins with ``=`` or the like as a formula, and names in files of users are hostile: such
a text gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from trainwright.core.result import Cell
from trainwright.report.cells import plain

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A header and rows."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([safe_cell(name) for name in header])
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def safe_cell(cell: object) -> Cell:
    """The value as a spreadsheet may have it."""
    value = plain(cell)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
