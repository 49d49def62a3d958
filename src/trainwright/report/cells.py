"""Cells of tables as plain Python values, whatever library made them."""

from __future__ import annotations

import math

from trainwright.core.result import Cell

_EXACT = frozenset({str, int, float, bool, type(None)})


def plain(value: object) -> Cell:
    """The cell as exactly a str, int, float, bool or None; numpy scalars become what they hold, the rest its text."""
    if type(value) in _EXACT:
        return value  # type: ignore[return-value]
    if hasattr(value, "item"):
        value = value.item()
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return None if value is None else str(value)


def number(value: object) -> int | float:
    """The cell as a number; 0 when it is missing, not finite or none at all."""
    cell = plain(value)
    return cell if isinstance(cell, int | float) and is_number(cell) else 0


def is_number(value: Cell) -> bool:
    """Whether the cell is a finite number (a bool is none)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
