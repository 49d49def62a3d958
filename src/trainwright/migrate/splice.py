"""Put edits into the bytes of a file; what no edit names stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.source import Source


def spliced(source: Source, edits: Iterable[Edit]) -> bytes:
    """The bytes with all edits applied.

    Edits must not overlap (see `compatible`). New text is written in the encoding and with the newlines of the file;
    several insertions at one place come in the order given.
    """
    parts, at = [], 0
    for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end)):
        assert at <= edit.start <= edit.end <= len(source.data), f"overlapping edit at byte {edit.start}"
        new = edit.new.replace("\n", source.newline)
        parts += [source.data[at : edit.start], new.encode(source.encoding, errors="surrogateescape")]
        at = edit.end
    return b"".join([*parts, source.data[at:]])


def compatible(remarks: Sequence[Remark]) -> list[Remark]:
    """The remarks whose edits can be applied together: the first of two that overlap wins.

    Equal edits of several remarks count once. Remarks without edits are left out.
    """
    taken: set[Edit] = set()
    chosen = []
    for remark in sorted(remarks, key=lambda remark: (remark.start, remark.end, remark.number)):
        if not remark.edits:
            continue
        new = [edit for edit in remark.edits if edit not in taken]
        if not any(_collide(edit, other) for edit in new for other in taken):
            taken.update(new)
            chosen.append(remark)
    return chosen


def _collide(one: Edit, other: Edit) -> bool:
    if one.start == one.end or other.start == other.end:  # an insertion collides only inside a replacement
        return one.start < other.end and other.start < one.end
    return one.start < other.end and other.start < one.end


def is_no_op(source: Source, edit: Edit) -> bool:
    """Whether an edit would change nothing."""
    new = edit.new.replace("\n", source.newline).encode(source.encoding, errors="surrogateescape")
    return source.data[edit.start : edit.end] == new
