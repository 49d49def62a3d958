"""Tables as lines of text, for any width: a terminal of 20 columns, of 200, or a file.

A layout engine for terminals spends about 1 ms on a row of eight cells (measured with rich 15), which is too slow for
all rows of a table; this one needs some microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainwright.core.result import Cell, Column, Table
from trainwright.report.wording import heading, human, is_text, shortened

_SPACE = "  "
#: A text column may be cut down to this width before a table is split.
_LEAST_TEXT = 16
#: No text column is wider than this, so that one long name does not push the figures away.
_MOST_TEXT = 60


def lines_of(table: Table, rows: Sequence[Sequence[Cell]], width: int) -> tuple[list[str], list[str]]:
    """Header lines and row lines of the shown columns, none wider than `width`.

    Columns that do not fit stand in a further block below, behind the leading columns once more; where not even one
    fits beside those, each row becomes a list of names and values, without a header.
    """
    columns = shown_columns(table)
    cells = [[human(row[at], table.spec.columns[at]) for row in rows] for at in columns]
    heads = [_words(heading(table.spec.columns[at])) for at in columns]
    texts = [is_text(table.spec.columns[at]) for at in columns]
    widths = _widths(heads, cells, texts, width)
    lead = _leading(table.spec.columns, columns)
    blocks = _blocks(widths, lead, width)
    if blocks is None:
        return [], _records(["".join(head) for head in heads], cells, width)
    header: list[str] = []
    body: list[str] = []
    for number, block in enumerate(blocks):
        top = _header([(heads[at], widths[at], texts[at]) for at in block])
        lines = _rows([(cells[at], widths[at], texts[at]) for at in block], len(rows))
        header, body = (top, lines) if number == 0 else (header, [*body, "", *top, *lines])
    return header, body


def shown_columns(table: Table) -> list[int]:
    """Positions of the columns people are shown, in the order they are shown."""
    names = table.column_names
    return [names.index(name) for name in table.spec.shown] if table.spec.shown else list(range(len(names)))


def cell_width(text: str) -> int:
    """Columns a text takes in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fitted(text: str, width: int, *, left: bool) -> str:
    """The text in exactly `width` columns, the middle left out if it is longer."""
    taken = cell_width(text)
    limit = width
    while taken > width:  # wide characters take two columns: fewer of them fit
        text = shortened(text, limit)
        taken = cell_width(text)
        limit -= 1
    fill = " " * (width - taken)
    return text + fill if left else fill + text


def _widths(heads: list[list[str]], cells: list[list[str]], texts: list[bool], width: int) -> list[int]:
    """Natural widths; text columns give way, the widest first, until all fit or all are at their least."""
    widths = []
    for head, column, text in zip(heads, cells, texts, strict=True):
        natural = max(map(cell_width, (*head, *column)))
        widths.append(min(natural, _MOST_TEXT) if text else natural)
    excess = sum(widths) + len(_SPACE) * (len(widths) - 1) - width
    while excess > 0:
        at = max((at for at, text in enumerate(texts) if text), key=lambda at: widths[at], default=None)
        if at is None or widths[at] <= _LEAST_TEXT:
            break
        widths[at] -= 1
        excess -= 1
    return widths


def _leading(columns: Sequence[Column], shown: list[int]) -> int:
    """How many columns at the front say what a row is: up to the first measure."""
    count = next((at for at, place in enumerate(shown) if columns[place].unit not in ("id", "text")), len(shown))
    return min(count, 3)


def _blocks(widths: list[int], lead: int, width: int) -> list[list[int]] | None:
    """Columns of each block, all with the leading ones; None when a column does not fit beside those."""
    front = list(range(lead))
    room = width - sum(widths[:lead]) - len(_SPACE) * lead
    if any(column > room for column in widths[lead:]) or room + len(_SPACE) < 0:
        return None
    blocks, left = [front], room
    for at in range(lead, len(widths)):
        if widths[at] > left:
            blocks.append(front)
            left = room
        blocks[-1] = [*blocks[-1], at]
        left -= widths[at] + len(_SPACE)
    return blocks


def _words(name: str) -> list[str]:
    """A column name on one or two lines: long names of several words are broken once."""
    if len(name) <= 10 or "_" not in name:
        return [name]
    cuts = [at for at, char in enumerate(name) if char == "_"]
    cut = min(cuts, key=lambda at: abs(2 * at - len(name)))
    return [name[: cut + 1], name[cut + 1 :]]


def _header(columns: list[tuple[list[str], int, bool]]) -> list[str]:
    height = max(len(head) for head, _, _ in columns)
    lines = []
    for line in range(height):
        words = [([""] * (height - len(head)) + head)[line] for head, _, _ in columns]
        lines.append(_line(words, columns))
    return [*lines, _SPACE.join("─" * width for _, width, _ in columns)]


def _line(words: list[str], columns: Sequence[tuple[object, int, bool]]) -> str:
    cells = [fitted(word, width, left=left) for word, (_, width, left) in zip(words, columns, strict=True)]
    return _SPACE.join(cells).rstrip()


def _rows(columns: list[tuple[list[str], int, bool]], count: int) -> list[str]:
    return [_line([cells[row] for cells, _, _ in columns], columns) for row in range(count)]


def _records(names: list[str], cells: list[list[str]], width: int) -> list[str]:
    lines = []
    for number, row in enumerate(zip(*cells, strict=True)):
        if number:
            lines.append("")
        for name, value in zip(names, row, strict=True):
            lines += _record(name, value, width)
    return lines


def _record(name: str, value: str, width: int) -> list[str]:
    gap = width - cell_width(name) - cell_width(value)
    if gap >= 1:
        return [name + " " * gap + value]
    return [fitted(name, width, left=True).rstrip(), fitted(value, width, left=False)]
