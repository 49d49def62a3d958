"""What the store holds, as a table, and how to empty it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

from trainwright.core.errors import StoreError
from trainwright.core.result import Column, Table, TableSpec
from trainwright.trace.ingest import store_dir
from trainwright.trace.rank_folder import is_held, read_manifest

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
    """The ranks in the store."""
    rows: list[tuple[str, str, str, int, int]] = []
    for folder in _entries():
        if folder.name.startswith("."):  # being read, or left behind by a read that ended badly
            continue
        manifest, size = read_manifest(folder), _size(folder)
        if manifest is None:
            rows.append((folder.name, "(damaged: read again when it is needed)", "", 0, size))
        else:
            rows.append(
                (folder.name, ", ".join(manifest["files"]), manifest["device"] or "cpu", manifest["events"], size)
            )
    return ENTRIES.table(sorted(rows, key=itemgetter(4), reverse=True))


def clear_cache() -> int:
    """Remove every rank, and what interrupted reads left behind; how many ranks are being read now, which stay.

    Raises:
        StoreError: something cannot be removed.
    """
    held = 0
    failed: list[OSError] = []
    entries = _entries()
    for entry in entries:
        if entry.name.startswith(".") and is_held(entry):
            held += 1
            continue
        try:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        except FileNotFoundError:  # another process was faster
            continue
        except OSError as error:
            failed.append(error)
    if failed:
        raise StoreError(
            f"{len(failed)} of {len(entries)} entries of {store_dir()} cannot be removed; "
            f"the first: {failed[0].filename}: {failed[0].strerror}",
            todo="check the permissions of the folder that TRAINWRIGHT_CACHE names",
        )
    return held


def _entries() -> list[Path]:
    folder = store_dir()
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"cannot look into the store {folder}: {error.strerror}", todo="set TRAINWRIGHT_CACHE to a folder of yours"
        ) from error


def _size(folder: Path) -> int:
    """Bytes of a folder, as far as it is still there."""
    size = 0
    with suppress(OSError):
        for path in folder.iterdir():
            size += path.stat().st_size
    return size
