"""The contract of a language leaf: which files it reads, what it learns from one, and how it scans one.

A scan has two passes. In the first every file gives `Facts`: what other files need to know of it. They are merged into
one `Project`. In the second every file is scanned with the project at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainwright.core.registry import Registry
from trainwright.migrate.options import Options
from trainwright.migrate.remark import Remark
from trainwright.migrate.source import Source

if TYPE_CHECKING:
    from trainwright.migrate.project import Facts, Project


@dataclass(frozen=True, kw_only=True)
class Language:
    """One kind of file (module constant ``LANGUAGE``).

    `matches` judges by path and the first bytes. `read` decodes. `learn` gives what other files need; `scan` gives the
    remarks. Both must take any bytes: what cannot be read is a remark, never an exception.
    """

    code: str
    summary: str
    matches: Callable[[str, bytes], bool]
    read: Callable[[str, bytes], Source]
    learn: Callable[[Source], Facts]
    scan: Callable[[Source, Project, Options], list[Remark]]
    #: Lower is asked first.
    order: int = 50


LANGUAGES: Registry[Language] = Registry(kind="language", package="trainwright.migrate.languages", constant="LANGUAGE")
