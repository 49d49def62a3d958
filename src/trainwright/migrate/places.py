"""Lines and columns of remarks, and the lines around them before and after their edits."""

from __future__ import annotations

from collections.abc import Sequence

from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.scan import Place, Region
from trainwright.migrate.source import Source

#: An edit this close to a remark, in lines, is shown with it.
_NEAR = 3
_MOST_LINES = 12
_MOST_CHARS = 800


def places_of(source: Source, remarks: Sequence[Remark]) -> tuple[Place, ...]:
    """The place of every remark, in order."""
    return tuple(_place(source, remark) for remark in remarks)


def region_of(source: Source, start: int, end: int) -> Region:
    """Lines and columns of a byte range."""
    return (*source.position(start), *source.position(end))


def _place(source: Source, remark: Remark) -> Place:
    region = region_of(source, remark.start, remark.end)
    edits = tuple(region_of(source, edit.start, edit.end) for edit in remark.edits)
    first, last = _window(region, edits)
    start = source.byte_at(source.line_starts[first - 1])
    end = source.byte_at(source.line_starts[last]) if last < len(source.line_starts) else len(source.data)
    if end - start > _MOST_CHARS:  # a line as long as a file: only the bytes in question
        start, end = _hull(remark)
    within = [edit for edit in remark.edits if start <= edit.start and edit.end <= end]
    before = _shown(source, start, end, [])
    after = _shown(source, start, end, within) if within else None
    return Place(region=region, before=before, after=after, edits=edits)


def _window(region: Region, edits: Sequence[Region]) -> tuple[int, int]:
    """First and last line to show."""
    first, last = region[0], min(region[2], region[0] + _MOST_LINES - 1)
    for edit in sorted(edits, key=lambda edit: abs(edit[0] - region[0])):
        low, high = min(first, edit[0]), max(last, edit[2])
        if high - low < _MOST_LINES and low >= first - _NEAR and high <= last + _NEAR:
            first, last = low, high
    return first, last


def _hull(remark: Remark) -> tuple[int, int]:
    start, end = remark.start, min(remark.end, remark.start + _MOST_CHARS)
    for edit in remark.edits:
        if max(end, edit.end) - min(start, edit.start) <= _MOST_CHARS:
            start, end = min(start, edit.start), max(end, edit.end)
    return start, end


def _shown(source: Source, start: int, end: int, edits: Sequence[Edit]) -> str:
    parts, at = [], start
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [_text(source, at, edit.start), edit.new]
        at = edit.end
    text = "".join([*parts, _text(source, at, end)])
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _text(source: Source, start: int, end: int) -> str:
    return source.data[max(start, source.bom) : end].decode(source.encoding, errors="replace")
