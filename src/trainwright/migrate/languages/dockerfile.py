"""Dockerfiles: images, variables, and the shell in their instructions."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, joined, raw
from trainwright.migrate.text.dockerfile import read_dockerfile
from trainwright.migrate.text.pip_commands import pip_requirements
from trainwright.migrate.text.scan import learner, scanner

_OTHER = frozenset({".md", ".py", ".sh", ".yml", ".yaml", ".json", ".txt", ".rst", ".dockerignore"})


def _matches(path: str, head: bytes) -> bool:
    file = PurePosixPath(path)
    if is_binary(head) or file.suffix.lower() in _OTHER:
        return False
    name = file.name.lower()
    return name.startswith(("dockerfile", "containerfile")) or file.suffix.lower() in (".dockerfile", ".containerfile")


def _content(source: Source) -> TextContent:
    text = raw(source)
    found = read_dockerfile(text)
    return joined([found, pip_requirements(found.commands)])


LANGUAGE = Language(
    code="dockerfile",
    summary="Dockerfiles: images they build upon, variables, and commands.",
    matches=_matches,
    read=plain_source,
    learn=learner("dockerfile"),
    scan=scanner("dockerfile", _content),
    order=40,
)
