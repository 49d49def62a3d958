"""What the store holds, as a table, and how to empty it."""

from __future__ import annotations

import json
import shutil
from operator import itemgetter
from pathlib import Path

from trainwright.core.result import Column, Table, TableSpec
from trainwright.trace.ingest import store_dir
from trainwright.trace.writer import MANIFEST

ENTRIES = TableSpec(
    name="store",
    title="Ranks in the store",
    help="One row per rank read; largest first.",
    columns=(
        Column(name="key", unit="text", help="folder in the store"),
        Column(name="files", unit="text", help="files it was read from"),
        Column(name="device", unit="text", help="device"),
        Column(name="events", unit="count", help="events read"),
        Column(name="size_bytes", unit="bytes", help="size in the store"),
    ),
)


def cache_table() -> Table:
    """The complete ranks in the store."""
    rows: list[tuple[str, str, str, int, int]] = []
    for folder in _folders():
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        size = sum(path.stat().st_size for path in folder.iterdir())
        files = ", ".join(manifest["files"])
        rows.append((folder.name, files, manifest["device"] or "cpu", manifest["events"], size))
    return ENTRIES.table(sorted(rows, key=itemgetter(4), reverse=True))


def clear_cache() -> None:
    """Remove every rank, and what interrupted reads left behind."""
    shutil.rmtree(store_dir(), ignore_errors=True)


def _folders() -> list[Path]:
    folder = store_dir()
    return sorted(path.parent for path in folder.glob(f"*/{MANIFEST}")) if folder.exists() else []
