"""A rank's folder in the store: its manifest, by which damage is seen, and the lock while it is being written."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from trainwright.core.errors import StoreError

MANIFEST = "manifest.json"
#: What a manifest must hold to be one.
_KEYS = {"events", "lost", "repaired", "device", "host", "start_ns", "end_ns", "files", "used", "quality", "tables"}
_ARROW_END = b"ARROW1"


def write_manifest(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the manifest, the last file of a folder, with the size of every table in it."""
    tables = {path.stem: path.stat().st_size for path in sorted(folder.glob("*.arrow"))}
    (folder / MANIFEST).write_text(json.dumps({**record, "tables": tables}, indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder; None where there is none, or the folder is not as it was written."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if not isinstance(manifest, dict) or not manifest.keys() >= _KEYS:
            return None
        whole = all(_is_whole(folder / f"{name}.arrow", size) for name, size in manifest["tables"].items())
    except (OSError, ValueError, RecursionError, AttributeError):
        return None
    return manifest if whole else None


def _is_whole(path: Path, size: int) -> bool:
    """Whether an Arrow file has its size and its end; what was lost in a crash reads as zeros."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) != size:
            return False
        file.seek(-len(_ARROW_END), os.SEEK_END)
        return file.read() == _ARROW_END


def hold(folder: Path) -> int:
    """Mark a folder as being written, until the number returned is closed or this process ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # some file systems have no locks: there, nobody is told
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_held(folder: Path) -> bool:
    """Whether a process is writing the folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


@contextmanager
def storing(folder: Path) -> Iterator[None]:
    """Explain why a folder of the store cannot be written."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write the store in {folder.parent}: {error.strerror or error}",
            todo="free space, or set TRAINWRIGHT_CACHE to a folder you may write to",
        ) from error
