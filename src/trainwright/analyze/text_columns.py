"""Text per row as codes, so that rows are grouped by text without touching it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainwright.analyze.calls import detail
from trainwright.analyze.fields import texts_at
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class TextColumn:
    """A text per row: (N,) codes into `texts`, -1 for null."""

    codes: I64
    texts: list[str]

    def at(self, codes: I64) -> list[str | None]:
        """The texts of some codes."""
        return texts_at(self.texts, codes)

    def among(self, *texts: str | None) -> npt.NDArray[np.bool_]:
        """Whether each row has one of the given texts, (N,)."""
        wanted = np.array([text in texts for text in (*self.texts, None)], np.bool_)
        return np.asarray(wanted[self.codes])


def stored_text(rank: RankStore, table: str, column: str, rows: I64) -> TextColumn:
    """A text column of `slices`, or of a detail table, for rows of `slices`."""
    codes = rank.column(table, column)[rows] if table == "slices" else detail(rank, table, column, rows)
    return TextColumn(codes=np.asarray(codes, np.int64), texts=rank.texts(table, column))


def first_known(first: TextColumn, second: TextColumn) -> TextColumn:
    """The text of `first`, or where that is null the one of `second`."""
    numbers: dict[str, int] = {}
    number = [
        np.array([*(numbers.setdefault(text, len(numbers)) for text in column.texts), -1], np.int64)[column.codes]
        for column in (first, second)
    ]
    return TextColumn(codes=np.where(number[0] >= 0, number[0], number[1]), texts=list(numbers))
