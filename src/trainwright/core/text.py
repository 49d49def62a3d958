"""Text that any program can hold."""

from __future__ import annotations

from collections.abc import Sequence


def encodable(text: str) -> str:
    """The text with lone surrogates, which no UTF-8 document can hold, as the replacement character.

    They come from ``\\ud800`` escapes in JSON, and from file names that are not UTF-8.
    """
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def number_ranges(numbers: Sequence[int], most: int = 12) -> str:
    """``0-3, 7`` for ``[0, 1, 2, 3, 7]``; long lists end in an ellipsis."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:most]]
    return ", ".join(shown) + (", ..." if len(spans) > most else "")
