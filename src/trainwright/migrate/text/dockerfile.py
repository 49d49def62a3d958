"""Read Dockerfiles: instructions with their continuations, the shell in them, images and variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trainwright.migrate.text.content import Assignment, Command, Image, TextContent, Use, Word, joined
from trainwright.migrate.text.shell import read_shell
from trainwright.migrate.text.shell_words import assignment

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)(?=[ \t\\\r\n])")
_SHELL = frozenset({"RUN", "CMD", "ENTRYPOINT"})
_FLAGS = re.compile(r"(?:[ \t]*(?:--[\w-]+(?:=\S+)?|\\[ \t]*\r?\n))*[ \t]*")
_HEREDOC = re.compile(r"<<-?[\"']?(\w+)[\"']?")
_ESCAPED_END = re.compile(r"\\[ \t]*\r?$")
_IMAGE = re.compile(r"\S+")
_OLD_ENV = re.compile(r"([A-Za-z_]\w*)[ \t]+([^\r\n]*?)[ \t]*$")
_USE = re.compile(r"(?<!\\)\$\{?([A-Za-z_]\w*)")


def read_dockerfile(text: str) -> TextContent:
    """Everything found in the raw text of a Dockerfile."""
    return joined(_instruction(text, *span) for span in _instructions(text))


def _instructions(text: str) -> Iterator[tuple[str, int, int]]:
    """(name, start of the arguments, end) of every instruction."""
    at = 0
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end]
        match = _INSTRUCTION.match(line)
        if match is None or line.lstrip().startswith("#"):
            at = end + 1
            continue
        start, end = at + match.end(), _logical_end(text, at)
        if match.group(1).upper() in ("RUN", "COPY"):
            end = _behind_heredocs(text, start, end)
        yield match.group(1).upper(), start, end
        at = end + 1


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _logical_end(text: str, at: int) -> int:
    """End of an instruction: a backslash goes on, and so do comments and empty lines behind one."""
    continued = False
    while True:
        end = _line_end(text, at)
        line = text[at:end]
        passed = continued and (not line.strip() or line.lstrip().startswith("#"))
        if not passed:
            continued = _ESCAPED_END.search(line) is not None
        if not continued or end >= len(text):
            return end
        at = end + 1


def _behind_heredocs(text: str, start: int, end: int) -> int:
    for match in _HEREDOC.finditer(text, start, end):
        close = re.compile(rf"^[ \t]*{match.group(1)}[ \t]*\r?$", re.MULTILINE).search(text, end)
        end = close.end() if close else end
    return end


def _instruction(text: str, name: str, start: int, end: int) -> TextContent:
    flags = _FLAGS.match(text, start, end)
    begin = flags.end() if flags else start
    if name in ("ONBUILD", "HEALTHCHECK"):
        inner = _INSTRUCTION.match(text, begin, end)
        return _instruction(text, inner.group(1).upper(), inner.end(), end) if inner else TextContent()
    if name in _SHELL:
        return _exec_form(text, begin, end) or read_shell(text, *_script(text, begin, end), container=True)
    if name in ("ENV", "ARG"):
        return _variables(text, begin, end)
    uses = tuple(Use(name=use.group(1), start=use.start(1), end=use.end(1)) for use in _USE.finditer(text, start, end))
    image = _IMAGE.search(text, begin, end) if name == "FROM" else None
    images = (Image(name=image.group(), start=image.start(), end=image.end()),) if image else ()
    return TextContent(uses=uses, images=images)


def _script(text: str, begin: int, end: int) -> tuple[int, int]:
    """Start and end of the shell text; ``RUN <<EOF`` has it on the lines below, before the last one."""
    heredoc = _HEREDOC.match(text, begin, end)
    if heredoc is None:
        return begin, end
    first = min(_line_end(text, begin) + 1, end)
    return first, max(first, text.rfind("\n", first, end))


def _exec_form(text: str, begin: int, end: int) -> TextContent | None:
    """``CMD ["python", "train.py"]``."""
    if text[begin : begin + 1] != "[":
        return None
    try:
        values = json.loads(text[begin:end])
    except ValueError:
        return None
    words, at = [], begin
    for value in values:
        quoted = json.dumps(value) if isinstance(value, str) else ""
        first = text.find(quoted, at, end) if quoted else -1
        if first < 0:
            return TextContent()
        inner = first + 1 if quoted[1:-1] == value else -1
        words.append(Word(text=value, start=first, end=first + len(quoted), inner=inner, literal="$" not in value))
        at = first + len(quoted)
    return TextContent(commands=(Command(words=tuple(words)),) if words else ())


def _variables(text: str, begin: int, end: int) -> TextContent:
    """``ENV NAME=value ...``, the older ``ENV NAME value``, and ``ARG NAME[=value]``."""
    found = read_shell(text, begin, end, container=True)
    if found.assignments:
        words = [word for command in found.commands for word in command.words]
        more = [more for word in words if (more := assignment(word, text))]
        return TextContent(assignments=(*found.assignments, *more), uses=found.uses)
    match = _OLD_ENV.match(text, begin, end)
    if match is None:
        return TextContent(uses=found.uses)
    name, value = match.groups()
    old = Assignment(
        name=name,
        start=match.start(1),
        end=match.end(1),
        value=value,
        value_start=match.start(2),
        value_end=match.end(2),
        literal="$" not in value,
    )
    return TextContent(assignments=(old,), uses=found.uses)
