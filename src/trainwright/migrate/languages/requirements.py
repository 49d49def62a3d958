"""Requirement and constraint files of pip."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, raw
from trainwright.migrate.text.requirements import read_requirements
from trainwright.migrate.text.scan import learner, scanner

_NAME = re.compile(r"(?:.*[-_.])?(?:requirements?|constraints?)(?:[-_.].*)?\.(?:txt|in|pip)", re.IGNORECASE)


def _matches(path: str, head: bytes) -> bool:
    file = PurePosixPath(path)
    if is_binary(head):
        return False
    return bool(_NAME.fullmatch(file.name)) or (
        file.parent.name in ("requirements", "reqs") and file.suffix in (".txt", ".in")
    )


def _content(source: Source) -> TextContent:
    return read_requirements(raw(source))


def _always(_source: Source) -> bool:
    return True


LANGUAGE = Language(
    code="requirements",
    summary="Requirement and constraint files of pip.",
    matches=_matches,
    read=plain_source,
    learn=learner("requirements"),
    scan=scanner("requirements", _content, always=_always),
    order=40,
)
