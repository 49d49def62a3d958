"""INI files: settings of programs, and the requirements in setup.cfg."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, raw
from trainwright.migrate.text.ini_file import read_ini
from trainwright.migrate.text.scan import learner, scanner


def _matches(path: str, head: bytes) -> bool:
    return PurePosixPath(path).suffix.lower() in (".ini", ".cfg", ".conf") and not is_binary(head)


def _content(source: Source) -> TextContent:
    return read_ini(raw(source))


def _is_setup(source: Source) -> bool:
    return source.name == "setup.cfg"


LANGUAGE = Language(
    code="ini-config",
    summary="INI files (.ini .cfg .conf): configuration, and requirements in setup.cfg.",
    matches=_matches,
    read=plain_source,
    learn=learner("ini-config"),
    scan=scanner("ini-config", _content, always=_is_setup),
)
