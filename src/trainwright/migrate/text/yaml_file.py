"""Read YAML: scalars under their keys with the bytes they stand in, and the commands, variables and images in them.

The parser of PyYAML gives the places; a scalar whose bytes do not say what the parser read (escapes, folded lines) is
left out, so that no edit can miss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright.migrate.source import Source
from trainwright.migrate.text.content import Setting, TextContent

_MOST_BYTES = 2 * 2**20
#: An anchor and a tag stand before the scalar and belong to its place.
_PROPERTIES = re.compile(r"(?:[&!]\S*[ \t\r\n]+)+")


@dataclass(frozen=True, kw_only=True)
class Scalar:
    """A scalar of a document.

    Args:
        path: the keys to it; list positions are ``[]``.
        value: as the parser reads it.
        start, end: the bytes of the whole scalar, with quotes or the sign of a block.
        inner: first byte of the value when it stands there as it is, else -1.
        block: a literal or folded block; its text begins behind the first line.
        key: is a key itself; `path` ends with it.
        owner: number of the mapping or list it stands in.
    """

    path: tuple[str, ...]
    value: str
    start: int
    end: int
    inner: int
    block: bool = False
    key: bool = False
    owner: int = 0


def read_scalars(source: Source) -> list[Scalar] | str:
    """All scalars of a file, in order of place; a sentence when the file is not valid YAML."""
    import yaml

    if len(source.data) > _MOST_BYTES:
        return []  # data, not configuration
    text = source.text
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        roots = list(yaml.compose_all(text, Loader=loader))
        found: list[Scalar] = []
        for root in roots:
            if root is not None:
                found += _Walk(source, text).walk(root)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if "{{" in text or "{%" in text:
            return "It is a template, not YAML itself"
        mark = getattr(error, "problem_mark", None)
        return f"It is not valid YAML (line {mark.line + 1})" if mark else "It is not valid YAML"
    return sorted(found, key=lambda scalar: scalar.start)


class _Walk:
    def __init__(self, source: Source, text: str) -> None:
        self._at: Callable[[int], int] = source.byte_at
        self._text = text
        self._seen: set[int] = set()

    def walk(self, root: Any) -> Iterator[Scalar]:
        """Scalars below a node; what an alias repeats is given once."""
        stack: list[tuple[Any, tuple[str, ...], int, bool]] = [(root, (), 0, False)]
        while stack:
            node, path, owner, key = stack.pop()
            if id(node) in self._seen:
                continue
            self._seen.add(id(node))
            if node.id == "scalar":
                yield self._scalar(node, path, owner, key=key)
            elif node.id == "sequence":
                stack += [(child, (*path, "[]"), id(node), False) for child in node.value]
            else:
                for name, child in node.value:
                    below = (*path, str(name.value) if name.id == "scalar" else "?")
                    stack += [(name, below, id(node), True), (child, below, id(node), False)]

    def _scalar(self, node: Any, path: tuple[str, ...], owner: int, *, key: bool) -> Scalar:
        first, last = node.start_mark.index, node.end_mark.index
        style, value = node.style, node.value
        properties = _PROPERTIES.match(self._text, first, last)
        first = properties.end() if properties else first
        begin = first + (style in ("'", '"'))
        direct = style not in ("|", ">") and self._text[begin : begin + len(value)] == value
        if direct and style in ("'", '"'):
            direct = begin + len(value) == last - 1
        return Scalar(
            path=path,
            value=value,
            start=self._at(first),
            end=self._at(begin + len(value) + (style in ("'", '"')) if direct else last),
            inner=self._at(begin) if direct else -1,
            block=style in ("|", ">"),
            key=key,
            owner=owner,
        )


def settings_of(scalars: Sequence[Scalar]) -> TextContent:
    """The values that stand in the file as they are."""
    return TextContent(
        settings=tuple(
            Setting(path=scalar.path, value=scalar.value, start=scalar.inner, end=scalar.inner + len(scalar.value))
            for scalar in scalars
            if not scalar.key and scalar.inner >= 0 and scalar.value.isascii()
        )
    )
