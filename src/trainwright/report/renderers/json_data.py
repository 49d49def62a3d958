"""JSON for programs: the machine-readable answer, strict, one table row per line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trainwright.report.atomic import write_file
from trainwright.report.contract import answer
from trainwright.report.renderer import Page

#: How every answer begins: by this we know one of ours.
_MARK = '{\n"schema": "trainwright/'


@dataclass(frozen=True, kw_only=True)
class JsonData:
    """The renderer; see `trainwright.report.contract` for the schema. All rows are given, whatever ``page.top``."""

    code: str = "json-data"
    summary: str = "Machine-readable answer (schema trainwright/1) as strict JSON."
    target: Literal["text", "file", "folder"] = "text"

    def render(self, page: Page) -> str:
        """The answer as ASCII text; equal results give equal text."""
        record = answer(page.command, page.result)
        return _lines("{", [f"{_json(key)}: {_part(key, value)}" for key, value in record.items()], "}") + "\n"

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the answer to a file."""
        return [write_file(path, self.render(page), mark=_MARK, force=force)]


def _part(key: str, value: Any) -> str:
    if key == "tables":
        return _lines("{", [f"{_json(name)}: {_table(table)}" for name, table in value.items()], "}")
    if key in ("findings", "quality"):
        return _lines("[", [_json(item) for item in value], "]")
    return _json(value)


def _table(record: dict[str, Any]) -> str:
    rows = _lines("[", [_json(row) for row in record.pop("rows")], "]")
    parts = [f'"columns": {_json(record.pop("columns"))}', f'"rows": {rows}']
    parts += [f"{_json(key)}: {_json(value)}" for key, value in record.items()]
    return "{" + ", ".join(parts) + "}"


def _lines(opening: str, items: list[str], closing: str) -> str:
    return f"{opening}\n" + ",\n".join(items) + f"\n{closing}" if items else opening + closing


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False)


RENDERER = JsonData()
