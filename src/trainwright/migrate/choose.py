"""Which remarks of a file are applied: the safe ones, and with ``--unsafe`` the unsafe ones that leave them whole."""

from __future__ import annotations

from collections.abc import Sequence

from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.splice import compatible


def chosen(remarks: Sequence[Remark], *, unsafe: bool) -> tuple[Remark, ...]:
    """The remarks whose edits can be applied together. No unsafe edit takes the place of a safe one."""
    kept = compatible([remark for remark in remarks if remark.safety == "safe"])
    if not unsafe:
        return tuple(kept)
    taken = {edit for remark in kept for edit in remark.edits}
    for remark in compatible([remark for remark in remarks if remark.safety == "unsafe"]):
        new = [edit for edit in remark.edits if edit not in taken]
        if not any(_overlap(edit, other) for edit in new for other in taken):
            kept.append(remark)
            taken.update(new)
    return tuple(kept)


def _overlap(one: Edit, other: Edit) -> bool:
    return one.start < other.end and other.start < one.end
