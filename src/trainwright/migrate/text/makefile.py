"""Read makefiles: variables, and the shell in recipes."""

from __future__ import annotations

import re

from trainwright.migrate.text.content import Assignment, TextContent, Use, joined
from trainwright.migrate.text.shell import read_shell
from trainwright.migrate.text.shell_words import pieces

_VARIABLE = re.compile(
    r"(?P<lead>[ ]*(?:export[ \t]+|override[ \t]+)?(?:[\w.%/-]+[ \t]*:[ \t]*)?)"
    r"(?P<name>[A-Za-z_]\w*)[ \t]*(?:[:?+!]|::)?=[ \t]*(?P<value>[^\r\n#]*)"
)
_NAMED = re.compile(r"(?:un)?export[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*\r?$")
_REFERENCE = re.compile(r"(?<!\$)\$[({]([A-Za-z_]\w*)[)}]")
#: ``$$`` is the shell's dollar; a reference of make is no expansion of the shell. Replaced by text of equal length.
_HIDDEN = re.compile(r"\$\$|\$[({][^()\s{}]*[)}]|\$[@<^?*+|%]")
_LEAD = re.compile(r"\t[ \t]*[@+-]*")


def read_makefile(text: str) -> TextContent:
    """Everything found in the raw text of a makefile."""
    shell = _HIDDEN.sub(_hidden, text)
    parts, at = [], 0
    while at < len(text):
        end = _end(text, at)
        if text[at] == "\t":
            lead = _LEAD.match(text, at)
            parts.append(read_shell(shell, lead.end() if lead else at, end))
        elif not text.startswith("#", at):
            parts.append(_line(text, at, end))
        parts.append(_uses(text, at, end))
        at = end + 1
    return joined(parts)


def _hidden(match: re.Match[str]) -> str:
    found = match.group()
    return "_$" if found == "$$" else "_" * len(found)


def _end(text: str, at: int) -> int:
    """End of a line with its continuations."""
    while True:
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        if not text[at:end].rstrip("\r").endswith("\\"):
            return end
        at = end + 1


def _uses(text: str, start: int, end: int) -> TextContent:
    if text[start:end].lstrip().startswith("#"):
        return TextContent()
    found = _REFERENCE.finditer(text, start, end)
    return TextContent(uses=tuple(Use(name=use.group(1), start=use.start(1), end=use.end(1)) for use in found))


def _line(text: str, start: int, end: int) -> TextContent:
    match = _VARIABLE.match(text, start, end)
    if match is None:
        named = _NAMED.match(text, start, end)
        if named is None:
            return TextContent()
        return TextContent(uses=(Use(name=named.group("name"), start=named.start("name"), end=named.end("name")),))
    value = match.group("value").rstrip()
    begin = match.start("value")
    stop = begin + len(value)
    found = Assignment(
        name=match.group("name"),
        start=match.start("name"),
        end=match.end("name"),
        value=value,
        value_start=begin,
        value_end=stop,
        literal="$" not in value,
        words=tuple(pieces(text, begin, stop)),
    )
    return TextContent(assignments=(found,))
