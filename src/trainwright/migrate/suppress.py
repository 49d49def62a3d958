"""Comments that silence remarks: ``# trainwright: ignore[TW101]`` on a line, ``# trainwright: ignore-file`` in a file.

Works in every language whose comments begin with ``#``, ``//``, ``--``, ``/*`` or ``<!--``. Without codes everything on
the line is silenced. A comment counts for remarks that begin or end on its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from trainwright.migrate.remark import Remark
from trainwright.migrate.source import Source

_MARK = b"trainwright:"
_LINE = re.compile(r"(?:#|//|--|/\*|<!--)\s*trainwright:\s*ignore(?!-)(?:\[([^\]\n]*)\])?")
#: Only at the beginning of a line, so that text about the comment silences nothing.
_FILE = re.compile(r"(?:\A|[\r\n])[ \t]*\"?(?:#|//|--|/\*|<!--)\s*trainwright:\s*ignore-file(?:\[([^\]\n]*)\])?")


def unsuppressed(source: Source, remarks: list[Remark], codes: Mapping[str, str]) -> list[Remark]:
    """The remarks that no comment silences; `codes` gives the number of every rule code."""
    if not remarks or _MARK not in source.data:
        return remarks
    text = source.text
    files = [_wanted(match.group(1), codes) for match in _FILE.finditer(text)]
    lines: dict[int, list[tuple[str, ...] | None]] = {}
    for match in _LINE.finditer(text):
        line, _ = source.position(source.byte_at(match.start()))
        lines.setdefault(line, []).append(_wanted(match.group(1), codes))
    return [remark for remark in remarks if not _silenced(source, remark, files, lines)]


def selected(number: str, prefixes: Iterable[str]) -> bool:
    """Whether a rule number is under one of the prefixes (``TW1`` holds ``TW101``)."""
    return any(number.startswith(prefix) for prefix in prefixes)


def _silenced(
    source: Source,
    remark: Remark,
    files: list[tuple[str, ...] | None],
    lines: dict[int, list[tuple[str, ...] | None]],
) -> bool:
    first, _ = source.position(remark.start)
    last, _ = source.position(max(remark.start, remark.end))
    for wanted in [*files, *lines.get(first, ()), *(lines.get(last, ()) if last != first else ())]:
        if wanted is None or selected(remark.number, wanted):
            return True
    return False


def _wanted(text: str | None, codes: Mapping[str, str]) -> tuple[str, ...] | None:
    """The numbers in brackets; None without brackets: all. Empty brackets silence nothing."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",") if word.strip()]
    return tuple(codes.get(word.lower(), word.upper()) for word in words)
