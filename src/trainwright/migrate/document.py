"""What a `FileHook` sees: a file with what its language made of it, and the project around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.source import Source


@dataclass(frozen=True, kw_only=True)
class Document:
    """One file under scan; `content` is what the language leaf parsed (its type is the language's own)."""

    source: Source
    language: str
    project: Project
    options: Options
    content: Any = None
