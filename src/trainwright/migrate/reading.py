"""Bytes of the files of a project, and which language leaf reads them."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from trainwright.migrate.language import LANGUAGES, Language

#: As much of a file as a language may judge it by.
HEAD_BYTES = 8192


def read_bytes(root: str | Path, path: str, *, most: int = -1) -> bytes:
    """The bytes of a file below the root, or its first `most`; a link that took the place of the file is no file."""
    with os.fdopen(os.open(Path(root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        return file.read(most)


def language_of(path: str, head: bytes) -> Language | None:
    """The language that reads a file; None for files that are none of our business."""
    return next((leaf for leaf in _ordered(tuple(LANGUAGES)) if leaf.matches(path, head)), None)


def digest(data: bytes) -> str:
    """By which a file is known again."""
    return hashlib.sha256(data).hexdigest()


@lru_cache(maxsize=8)
def _ordered(leaves: tuple[Language, ...]) -> list[Language]:
    return sorted(leaves, key=lambda leaf: (leaf.order, leaf.code))
