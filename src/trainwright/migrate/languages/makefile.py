"""Makefiles: variables, and the commands of recipes."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, joined, raw
from trainwright.migrate.text.makefile import read_makefile
from trainwright.migrate.text.pip_commands import pip_requirements
from trainwright.migrate.text.scan import learner, scanner

_NAMES = frozenset({"makefile", "gnumakefile"})


def _matches(path: str, head: bytes) -> bool:
    file = PurePosixPath(path)
    return (file.name.lower() in _NAMES or file.suffix.lower() == ".mk") and not is_binary(head)


def _content(source: Source) -> TextContent:
    found = read_makefile(raw(source))
    return joined([found, pip_requirements(found.commands)])


LANGUAGE = Language(
    code="makefile",
    summary="Makefiles: variables, and the commands of recipes.",
    matches=_matches,
    read=plain_source,
    learn=learner("makefile"),
    scan=scanner("makefile", _content),
)
