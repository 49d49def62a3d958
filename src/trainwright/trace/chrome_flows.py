"""Bind the ends of flow arrows to the slices they point at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.columns import TextPool
from trainwright.trace.reader import ColumnData

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

#: How many slices before an arrow's end are tried for one that is still open.
OPEN_SLICES_TRIED = 16


class FlowBinder:
    """Collects slices and arrow ends of a file, then joins them.

    An arrow's end belongs to the innermost slice of its track that is open at its time. `prefixes` are the flow
    categories or names whose id becomes the `link` of both slices.
    """

    def __init__(self, prefixes: tuple[str, ...]) -> None:
        self._prefixes = prefixes
        self._slices: list[dict[str, Any]] = []
        self._texts = TextPool()
        self._labels = TextPool()
        self._ends: dict[str, list[tuple[I32, I32, I32, I64]]] = {"s": [], "f": []}

    def add_slices(self, columns: dict[str, Any]) -> None:
        """A batch of slices, kept until `slices`."""
        self._slices.append(columns)

    def add_ends(
        self,
        phase: str,
        category: pa.ChunkedArray,
        flow_id: pa.ChunkedArray,
        name: pa.ChunkedArray,
        track: I32,
        ts: I64,
    ) -> None:
        """A batch of arrow ends: starts (``s``) or finishes (``f``); steps (``t``) bind nothing."""
        if phase not in self._ends:
            return
        rows = len(track)
        label = [cat or text or "" for cat, text in zip(category.to_pylist(), name.to_pylist(), strict=True)]
        ids = self._texts.encode(flow_id, rows)
        self._ends[phase].append((self._labels.encode(label, rows), ids, track, ts))

    def bind(self) -> pa.Table:
        """All arrows whose two ends were found: category, id (text), start_event, end_event."""
        joined = {phase: _concatenate(parts) for phase, parts in self._ends.items()}
        if not self._slices or not len(joined["s"][0]) or not len(joined["f"][0]):
            return _flow_table([], [], [], [])
        event = np.concatenate([part["event"] for part in self._slices])
        track = np.concatenate([part["track"] for part in self._slices])
        start = np.concatenate([part["start_ns"] for part in self._slices])
        dur = np.concatenate([part["dur_ns"] for part in self._slices])
        order = np.lexsort((-dur, start, track))
        finder = _Finder(track[order], start[order], (start + dur)[order])
        row_s, row_f = (finder.find(joined[phase][2], joined[phase][3]) for phase in ("s", "f"))
        arrow_s, arrow_f = _pair(joined["s"], joined["f"], len(self._texts))
        both = (row_s[arrow_s] >= 0) & (row_f[arrow_f] >= 0)
        arrow_s, arrow_f = arrow_s[both], arrow_f[both]
        source, target = order[row_s[arrow_s]], order[row_f[arrow_f]]
        labels, ids = joined["s"][0][arrow_s], joined["s"][1][arrow_s]
        self._set_links(labels, ids, source, target, len(event))
        label_texts, id_texts = self._labels.texts(), self._texts.texts()
        return _flow_table(
            [label_texts[code] for code in labels], [id_texts[code] for code in ids], event[source], event[target]
        )

    def _set_links(self, labels: I32, ids: I32, source: I64, target: I64, rows: int) -> None:
        """Give both slices of the wanted arrows the number of their flow as link."""
        wanted = np.array(
            [text.startswith(self._prefixes) if self._prefixes else False for text in self._labels.texts()]
        )
        use = np.flatnonzero(wanted[labels])
        link = np.full(rows, -1, np.int64)
        # one host slice may start several arrows: all of its targets share the first arrow's number
        number = ids[use].astype(np.int64)
        unique_source, first = np.unique(source[use], return_index=True)
        link[unique_source] = number[first]
        link[target[use]] = link[source[use]]
        at = 0
        for part in self._slices:
            count = len(part["start_ns"])
            mine = link[at : at + count]
            part["link"] = np.where(mine >= 0, mine, part["link"])
            at += count

    def slices(self) -> Iterator[dict[str, ColumnData]]:
        """The slices, with their links; given up as they are taken."""
        while self._slices:
            yield self._slices.pop(0)


class _Finder:
    """Innermost open slice of a track at a time, over slices sorted by (track, start, longest first)."""

    def __init__(self, track: I32, start: I64, end: I64) -> None:
        self._start, self._end = start, end
        tracks, firsts = np.unique(track, return_index=True)
        bounds = np.append(firsts, len(track))
        self._range = {int(key): (int(bounds[at]), int(bounds[at + 1])) for at, key in enumerate(tracks)}

    def find(self, track: I32, ts: I64) -> I64:
        """Row of the slice for each (track, time), -1 where none is open."""
        rows = np.full(len(track), -1, np.int64)
        for key in np.unique(track):
            if int(key) not in self._range:
                continue
            begin, stop = self._range[int(key)]
            mine = np.flatnonzero(track == key)
            at = np.searchsorted(self._start[begin:stop], ts[mine], side="right") - 1 + begin
            for _ in range(OPEN_SLICES_TRIED):
                closed = (at >= begin) & (self._end[np.maximum(at, begin)] < ts[mine])
                if not closed.any():
                    break
                at = np.where(closed, at - 1, at)
            found = (at >= begin) & (self._end[np.maximum(at, begin)] >= ts[mine])
            rows[mine] = np.where(found, at, -1)
        return rows


def _concatenate(parts: list[tuple[I32, I32, I32, I64]]) -> tuple[I32, I32, I32, I64]:
    if not parts:
        none = np.empty(0, np.int32)
        return none, none, none, np.empty(0, np.int64)
    label, ids, track, ts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return label, ids, track, ts


def _pair(starts: tuple[I32, I32, I32, I64], ends: tuple[I32, I32, I32, I64], ids: int) -> tuple[I64, I64]:
    """Indices of starts and ends of one (label, id); where an id is used twice, each end takes the latest start."""
    key_s = starts[0].astype(np.int64) * (ids + 1) + starts[1]
    key_f = ends[0].astype(np.int64) * (ids + 1) + ends[1]
    order = np.lexsort((starts[3], key_s))
    keys = key_s[order]
    low, high = np.searchsorted(keys, key_f, side="left"), np.searchsorted(keys, key_f, side="right")
    arrow_f = np.flatnonzero(high > low)
    pick = high[arrow_f] - 1
    late = starts[3][order[pick]] > ends[3][arrow_f]
    pick = np.where(late, low[arrow_f], pick)
    return order[pick], arrow_f


def _flow_table(category: list[str], flow_id: list[str], source: ColumnData, target: ColumnData) -> pa.Table:
    return pa.table(
        {
            "category": pa.array(category, pa.string()),
            "id": pa.array(flow_id, pa.string()),
            "start_event": pa.array(source, pa.int32()),
            "end_event": pa.array(target, pa.int32()),
        }
    )
