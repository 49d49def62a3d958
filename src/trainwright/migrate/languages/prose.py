"""Prose: read to be counted, never judged and never changed."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.remark import Remark
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.scan import learner

_MENTIONS = re.compile(rb"(?i)cuda|nccl")


def _matches(path: str, head: bytes) -> bool:
    prose = PurePosixPath(path).suffix.lower() in (".md", ".rst", ".txt", ".markdown")
    return prose and not is_binary(head) and _MENTIONS.search(head) is not None


def _scan(_source: Source, _project: Project, _options: Options) -> list[Remark]:
    return []


LANGUAGE = Language(
    code="prose",
    summary="Texts that speak of CUDA (.md .rst .txt): counted, never changed.",
    matches=_matches,
    read=plain_source,
    learn=learner("prose"),
    scan=_scan,
    order=90,
)
