"""JSON: settings of programs, development containers."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, joined, raw
from trainwright.migrate.text.jobs import compose_uses, job_content
from trainwright.migrate.text.json_file import MOST_BYTES, read_json
from trainwright.migrate.text.scan import learner, scanner
from trainwright.migrate.text.yaml_file import settings_of

#: Lists of what was installed, and data.
_GENERATED = frozenset({"package-lock.json", "npm-shrinkwrap.json", "composer.lock", "pipfile.lock"})


def _matches(path: str, head: bytes) -> bool:
    file = PurePosixPath(path)
    if file.name.lower() in _GENERATED or is_binary(head):
        return False
    return file.suffix.lower() in (".json", ".jsonc", ".json5")


def _content(source: Source) -> TextContent:
    if len(source.data) > MOST_BYTES:
        return TextContent()
    text = raw(source)
    scalars = read_json(text[source.bom :])
    if isinstance(scalars, str):
        return TextContent(problem=scalars)
    if source.bom:
        return TextContent(problem="It begins with a byte order mark, which JSON does not allow")
    return joined([settings_of(scalars), job_content(text, scalars), TextContent(uses=compose_uses(scalars))])


LANGUAGE = Language(
    code="json-config",
    summary="JSON files: configuration of programs and development containers.",
    matches=_matches,
    read=plain_source,
    learn=learner("json-config"),
    scan=scanner("json-config", _content),
)
