"""Bytes of C++ text with comments and strings blanked out, and the search for matching brackets in them.

Blanking keeps every offset, so that what a pattern finds in the masked text stands at the same place in the file.
"""

from __future__ import annotations

import re

_COMMENT_OR_STRING = re.compile(
    rb"//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z)|"
    rb'R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"|'
    rb'"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])\'(?:[^\'\\\n]|\\.)+\'',
    re.DOTALL,
)
_VISIBLE = re.compile(rb"[^\r\n]")
_BRACKET = {ord("("): ord(")"), ord("{"): ord("}"), ord("["): ord("]")}
#: An unclosed bracket is given up after this many bytes: broken text must not make the search quadratic.
_REACH = 400_000


def without_comments(data: bytes) -> bytes:
    """The text with comments blanked, strings kept."""
    return _COMMENT_OR_STRING.sub(lambda found: found[0] if found[0][:1] in b"\"'R" else _blank(found[0]), data)


def without_strings(data: bytes) -> bytes:
    """The text with comments blanked and the inside of strings, too (the quotes stay)."""
    return _COMMENT_OR_STRING.sub(_mask, data)


def _mask(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if text[:1] in b"\"'":
        return text[:1] + _blank(text[1:-1]) + text[-1:]
    return _blank(text)


def _blank(text: bytes) -> bytes:
    return _VISIBLE.sub(b" ", text)


def closing(masked: bytes, at: int) -> int:
    """Offset just behind the bracket that closes the one at `at`; the end of the text when there is none."""
    opening, wanted = masked[at], _BRACKET[masked[at]]
    pair = re.compile(b"[" + re.escape(bytes([opening, wanted])) + b"]")
    depth, limit = 0, min(len(masked), at + _REACH)
    for found in pair.finditer(masked, at, limit):
        depth += 1 if masked[found.start()] == opening else -1
        if not depth:
            return found.end()
    return limit


def arguments(masked: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges of the arguments between two brackets (`start` behind the opening, `end` at the closing one)."""
    found, depth, at = [], 0, start
    for index in range(start, end):
        char = masked[index]
        if char in b"([{":
            depth += 1
        elif char in b")]}":
            depth -= 1
        elif char == ord(",") and not depth:
            found.append((at, index))
            at = index + 1
    found.append((at, end))
    return [part for part in found if masked[part[0] : part[1]].strip()]
