"""Text that any program can hold."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text with lone surrogates, which no UTF-8 document can hold, as the replacement character.

    They come from ``\\ud800`` escapes in JSON, and from file names that are not UTF-8.
    """
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
