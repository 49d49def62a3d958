"""Requirements: lines of requirement files, single strings of PEP 508, and where packages come from."""

from __future__ import annotations

import re
from typing import Literal

from trainwright.migrate.text.content import PackageIndex, Requirement, TextContent

#: Name, extras, versions or a place, marker, as PEP 508 has it; options such as ``--hash`` end it.
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]\r\n]*\])?\s*"
    r"(?P<spec>@\s*[^\s;]+|\(?\s*(?:(?:===|[<>=!~]=|[<>])\s*[^\s,;)#]+(?:\s*,\s*)?)*\)?)\s*(?:;\s*(?P<marker>[^#\r\n]*))?"
)
_OPTION = re.compile(r"(?:--extra-index-url|--index-url|-i|--find-links|-f)(?:\s*=\s*|\s+)(?P<url>[^\s#]+)")
_COMMENT = re.compile(r"(?:^|\s)#")
Origin = Literal["pip", "conda", "poetry"]


def read_requirements(text: str, start: int = 0, end: int | None = None) -> TextContent:
    """The lines of a requirement file in raw text."""
    end = len(text) if end is None else end
    requirements, indexes = [], []
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        if option := _option(text, at, stop):
            indexes.append(option)
        elif found := requirement_at(text, at, stop):
            requirements.append(found)
        at = stop + 1
    return TextContent(requirements=tuple(requirements), indexes=tuple(indexes))


def _option(text: str, start: int, end: int) -> PackageIndex | None:
    first = _first(text, start, end)
    match = _OPTION.match(text, first, end)
    return PackageIndex(url=match.group("url"), start=match.start(), end=match.end()) if match else None


def _first(text: str, start: int, end: int) -> int:
    while start < end and text[start] in " \t":
        start += 1
    return start


def requirement_at(text: str, start: int, end: int, source: Origin = "pip") -> Requirement | None:
    """The requirement that a line or a string is; None when it is none (an option, a path, a URL, a comment)."""
    first = _first(text, start, end)
    comment = _COMMENT.search(text, first, end)
    match = _REQUIREMENT.match(text, first, comment.start() if comment else end)
    if match is None:
        return None
    rest = text[match.end() : comment.start() if comment else end].strip()
    if rest and not rest.startswith(("--", "\\", ",")):
        return None
    length = len(match.group().rstrip(" \t\r;"))
    return Requirement(
        name=match.group("name"),
        specifier=match.group("spec").strip(),
        marker=(match.group("marker") or "").strip(),
        start=first,
        end=first + length,
        source=source,
    )
