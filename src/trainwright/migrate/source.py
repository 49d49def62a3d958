"""One file of the user's project: its bytes, its text, and the way from places in the text to bytes.

Python files are decoded as PEP 263 says (BOM, coding cookie), everything else as UTF-8. Text keeps the newlines of the
file; a lone surrogate stands for a byte that is not text (``surrogateescape``), so encoding the text again always gives
the same bytes.
"""

from __future__ import annotations

import bisect
import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NEWLINE = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file in memory.

    Args:
        path: relative to the root of the project, with ``/``.
        data: the bytes, as they are on disk.
        encoding: codec of the bytes without the BOM.
        bom: number of bytes of the byte order mark.
    """

    path: str
    data: bytes
    encoding: str = "utf-8"
    bom: int = 0

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @cached_property
    def text(self) -> str:
        """The decoded text, newlines as in the file."""
        return self.data[self.bom :].decode(self.encoding, errors="surrogateescape")

    @cached_property
    def line_starts(self) -> list[int]:
        """Character offset of the start of every line."""
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @property
    def line_count(self) -> int:
        """Number of lines; a last line without newline counts."""
        starts = self.line_starts
        return len(starts) - (starts[-1] == len(self.text))

    @cached_property
    def _line_bytes(self) -> list[int]:
        """Byte offset of the start of every line."""
        if self._direct:
            return [start + self.bom for start in self.line_starts]
        starts = self.line_starts
        at, found = self.bom, []
        for index, start in enumerate(starts):
            found.append(at)
            end = starts[index + 1] if index + 1 < len(starts) else len(self.text)
            at += len(self._encode(self.text[start:end]))
        return found

    @cached_property
    def _direct(self) -> bool:
        """One character is one byte."""
        return self.encoding in ("utf-8", "ascii", "latin-1") and len(self.text) + self.bom == len(self.data)

    def _encode(self, text: str) -> bytes:
        return text.encode(self.encoding, errors="surrogateescape")

    def byte_at(self, char: int) -> int:
        """Byte offset of a character offset in `text`."""
        if self._direct:
            return char + self.bom
        line = bisect.bisect_right(self.line_starts, char) - 1
        return self._line_bytes[line] + len(self._encode(self.text[self.line_starts[line] : char]))

    def char_at(self, byte: int) -> int:
        """Character offset of a byte offset that begins a character."""
        if self._direct:
            return byte - self.bom
        line = bisect.bisect_right(self._line_bytes, byte) - 1
        lead = self.data[self._line_bytes[line] : byte]
        return self.line_starts[line] + len(lead.decode(self.encoding, errors="surrogateescape"))

    def char_of(self, line: int, utf8_column: int) -> int:
        """Character offset of a place as `ast` names it: line from 1, column in UTF-8 bytes."""
        start = self.line_starts[line - 1]
        if self._direct and self.encoding != "latin-1":
            return start + utf8_column
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        text = self.text[start:end]
        if text.isascii():
            return start + utf8_column
        return start + len(text.encode("utf-8", errors="surrogatepass")[:utf8_column].decode("utf-8", "replace"))

    def position(self, byte: int) -> tuple[int, int]:
        """Line and column of a byte offset, both from 1, the column in characters."""
        char = self.char_at(byte)
        line = bisect.bisect_right(self.line_starts, char)
        return line, char - self.line_starts[line - 1] + 1

    @cached_property
    def newline(self) -> str:
        """The newline the file uses first; LF when it has none."""
        match = _NEWLINE.search(self.text)
        return match.group() if match else "\n"


def python_source(path: str, data: bytes) -> Source:
    """A Python file, decoded as the interpreter would decode it.

    An unknown or contradicting coding cookie gives UTF-8 with escaped bytes: such a file does not run either.
    """
    bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    encoding = "utf-8"
    for line in data[bom:].split(b"\n", 2)[:2]:
        if match := _COOKIE.match(line):
            encoding = _codec(match.group(1).decode("ascii", "replace"))
            break
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    source = Source(path=path, data=data, encoding=encoding, bom=bom)
    try:
        if source.text.encode(encoding, errors="surrogateescape") == data[bom:]:
            return source
    except UnicodeError:
        pass
    return Source(path=path, data=data, bom=bom)


def plain_source(path: str, data: bytes) -> Source:
    """Any other text file: UTF-8, with or without BOM."""
    return Source(path=path, data=data, bom=len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)


def _codec(name: str) -> str:
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return "utf-8"
    return {"iso8859-1": "latin-1", "utf-8-sig": "utf-8"}.get(found, found)


def is_binary(data: bytes) -> bool:
    """Whether the bytes are no text: a NUL among the first 8 KiB, as git judges."""
    return b"\0" in data[:8192]


def byte_edges(source: Source, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Byte ranges of character ranges."""
    return [(source.byte_at(start), source.byte_at(end)) for start, end in spans]
