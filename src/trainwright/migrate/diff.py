"""A unified diff made from the edits themselves: exact, and fast on files of any length.

Lines end at LF, as for git and patch; bytes that are not UTF-8 stand in the text as lone surrogates.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainwright.migrate.remark import Edit
from trainwright.migrate.source import Source

CONTEXT = 3


@dataclass(frozen=True, kw_only=True)
class _Change:
    """Old lines `start` to `end`, and the lines in their place."""

    start: int
    end: int
    new: list[bytes]


def unified(source: Source, edits: Sequence[Edit]) -> str:
    """The diff of one file; empty when nothing changes."""
    lines = _lines(source.data)
    changes = [change for change in _changes(source, lines, edits) if change.new or change.start < change.end]
    if not changes:
        return ""
    parts = [f"--- {_name('a', source.path)}\n", f"+++ {_name('b', source.path)}\n"]
    shift = 0
    for group in _groups(changes):
        parts.append(_hunk(lines, group, shift))
        shift += sum(len(change.new) - (change.end - change.start) for change in group)
    return "".join(parts)


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _changes(source: Source, lines: list[bytes], edits: Sequence[Edit]) -> Iterator[_Change]:
    starts = [0, *itertools.accumulate(map(len, lines))]
    runs: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end)):
        first, last = _line(starts, lines, edit.start), min(_line(starts, lines, edit.end) + 1, len(lines))
        if runs and first <= runs[-1][1]:
            low, high, known = runs[-1]
            runs[-1] = (low, max(high, last), [*known, edit])
        else:
            runs.append((first, max(first, last), [edit]))
    for first, last, run in runs:
        yield _trimmed(first, lines[first:last], _lines(_replaced(source, starts[first], starts[last], run)))


def _line(starts: list[int], lines: list[bytes], offset: int) -> int:
    """The line an offset is on; one past the last for the end of a file that ends in a newline."""
    at = bisect.bisect_right(starts, offset) - 1
    return at - 1 if at == len(lines) and lines and not lines[-1].endswith(b"\n") else at


def _replaced(source: Source, start: int, end: int, edits: Sequence[Edit]) -> bytes:
    parts, at = [], start
    for edit in edits:
        new = edit.new.replace("\n", source.newline).encode(source.encoding, errors="surrogateescape")
        parts += [source.data[at : edit.start], new]
        at = edit.end
    return b"".join([*parts, source.data[at:end]])


def _trimmed(start: int, old: list[bytes], new: list[bytes]) -> _Change:
    """The change without the lines that are equal at its ends."""
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    most -= head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    return _Change(start=start + head, end=start + len(old) - tail, new=new[head : len(new) - tail])


def _groups(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Changes whose context would meet stand in one hunk."""
    group: list[_Change] = []
    for change in changes:
        if group and change.start - group[-1].end > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    yield group


def _hunk(lines: list[bytes], group: Sequence[_Change], shift: int) -> str:
    start, end = max(group[0].start - CONTEXT, 0), min(group[-1].end + CONTEXT, len(lines))
    grown = sum(len(change.new) - (change.end - change.start) for change in group)
    old, new = end - start, end - start + grown
    # a range without lines is named by the line before it
    head = f"@@ -{_range(start, old)} +{_range(start + shift, new)} @@\n"
    body, at = [], start
    for change in group:
        body += [(" ", line) for line in lines[at : change.start]]
        body += [("-", line) for line in lines[change.start : change.end]]
        body += [("+", line) for line in change.new]
        at = change.end
    body += [(" ", line) for line in lines[at:end]]
    return head + "".join(sign + _text(line) for sign, line in body)


def _range(start: int, count: int) -> str:
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _text(line: bytes) -> str:
    text = line.decode("utf-8", errors="surrogateescape")
    return text if text.endswith("\n") else f"{text}\n\\ No newline at end of file\n"


def _name(side: str, path: str) -> str:
    """A file name as git writes it: quoted when it holds what would end or change the line."""
    name = f"{side}/{path}"
    raw = name.encode("utf-8", errors="surrogateescape")
    if all(byte >= 0x20 and byte not in b'"\\\x7f' for byte in raw) and not any(map(_is_escaped, name)):
        return f"{name}\t" if " " in name else name
    quoted = "".join(chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:03o}" for byte in raw)
    return f'"{quoted}"'


def _is_escaped(char: str) -> bool:
    return "\udc80" <= char <= "\udcff"
