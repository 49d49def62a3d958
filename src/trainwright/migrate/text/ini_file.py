"""Read INI files: values under section and key with their bytes, and the requirements in setup.cfg."""

from __future__ import annotations

import re

from trainwright.migrate.text.content import Setting, TextContent, joined
from trainwright.migrate.text.requirements import read_requirements

_SECTION = re.compile(r"\[([^\]\r\n]+)\]")
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*([^\r\n]*)")
_COMMENT = re.compile(r"[ \t]+[#;]")
_REQUIRES = frozenset({"install_requires", "setup_requires", "tests_require"})


def read_ini(text: str) -> TextContent:
    """Settings, and the lists of requirements below them; `text` is raw."""
    section, key, parts, settings, at = "", "", [], [], 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if line[:1] in (" ", "\t"):
            if _is_requirements(section, key):
                parts.append(read_requirements(text, at, end))
        elif match := _SECTION.match(text, at, end):
            section, key = match.group(1), ""
        elif match := _PAIR.match(text, at, end):
            key = match.group(1)
            start, value = match.start(2), _value(match.group(2))
            settings.append(_setting(section, key, value, start))
            if _is_requirements(section, key):
                parts.append(read_requirements(text, start, end))
        at = end + 1
    return joined([TextContent(settings=tuple(settings)), *parts])


def _value(text: str) -> str:
    comment = _COMMENT.search(text)
    return (text[: comment.start()] if comment else text).rstrip()


def _setting(section: str, key: str, value: str, start: int) -> Setting:
    quoted = len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]
    inner = value[1:-1] if quoted else value
    start += quoted
    return Setting(path=(section, key), value=inner, start=start, end=start + len(inner))


def _is_requirements(section: str, key: str) -> bool:
    return (section == "options" and key in _REQUIRES) or (section == "options.extras_require" and bool(key))
