"""Scan a file that is no program of the host language: read it, then ask every rule that wants such files."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from trainwright.migrate.document import Document
from trainwright.migrate.options import Options
from trainwright.migrate.project import Facts, Project
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import RULES, FileHook
from trainwright.migrate.source import Source
from trainwright.migrate.text.content import TextContent

#: A file without any of these has nothing to say about devices.
_WORDS = re.compile(
    rb"(?i)cuda|nccl|nvidia|nvcr|gpu|nvcc|tf32|flash_att|xformers|flex_attention|[48]bit|paged_|pytorch/|[-:_.]cu1\d|--nv\b"
)


def speaks_of_devices(source: Source) -> bool:
    """Whether a file holds a word that any rule on devices could ask for."""
    return _WORDS.search(source.data) is not None


def scan_document(document: Document) -> list[Remark]:
    """The remarks of every rule that has a hook for the language of a document."""
    return [remark for hook in _hooks(document.language) for remark in hook.visit(document)]


@cache
def _hooks(language: str) -> tuple[FileHook, ...]:
    hooks = [hook for rule in RULES for hook in rule.hooks if isinstance(hook, FileHook)]
    return tuple(hook for hook in hooks if language in hook.languages)


def learner(language: str) -> Callable[[Source], Facts]:
    """What such a file tells the others: that it is there."""

    def learn(source: Source) -> Facts:
        return Facts(path=source.path, language=language)

    return learn


def scanner(
    language: str, content: Callable[[Source], TextContent], *, always: Callable[[Source], bool] | None = None
) -> Callable[[Source, Project, Options], list[Remark]]:
    """The `scan` of a language whose documents hold what `content` reads.

    Files that do not speak of devices are not read, but for those that `always` names.
    """

    def scan(source: Source, project: Project, options: Options) -> list[Remark]:
        if not speaks_of_devices(source) and not (always and always(source)):
            return []
        found = content(source)
        if found.problem:
            return [unread(source, found.problem)]
        document = Document(source=source, language=language, project=project, options=options, content=found)
        return scan_document(document)

    return scan


def unread(source: Source, problem: str, *, what: str = "") -> Remark:
    """The remark on a file, or on `what` in it, that could not be read."""
    match = _WORDS.search(source.data)
    start, end = match.span() if match else (0, 0)
    return Remark(
        number="TW901",
        start=start,
        end=end,
        title=f"{what or source.name} could not be read",
        detail=f"{problem}. It speaks of GPUs, but nothing in it was judged or changed.",
        advice="Correct it, or look through it by hand.",
        outcome="manual" if match else "note",
        minutes=10 if match else 0,
        name=source.name,
    )
