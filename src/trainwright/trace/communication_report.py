"""Flatten the nested JSON reports on communication that Ascend tools write into tables.

A report is a tree whose levels are named by its kind, for example group, step, operator and rank, and whose leaves hold
times, bandwidths per transport, or one link of a matrix. Values stay as the source gives them, with its names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainwright.trace.reader import Sink
from trainwright.trace.reported_rows import Row, pour_rows

TIME_INFO, BANDWIDTH_INFO = "Communication Time Info", "Communication Bandwidth Info"
#: Levels of the reports over a whole cluster; ``rank`` is the column that SQL adds to every table.
CLUSTER_LEVELS = ("group", "step", "op", "of_rank")
CLUSTER_MATRIX_LEVELS = ("group", "step", "op", "link")


def pour_times(name: str, tree: object, levels: Sequence[str], sink: Sink, path: Path) -> None:
    """Pour a report on times and bandwidths as ``reported_<name>_time`` and ``reported_<name>_bandwidth``."""
    times: list[Row] = []
    bandwidths: list[Row] = []
    for keys, leaf in _leaves(tree, levels, sink, path):
        times.append({**keys, **_scalars(leaf.get(TIME_INFO))})
        transports = leaf.get(BANDWIDTH_INFO)
        for transport, values in transports.items() if isinstance(transports, dict) else ():
            bandwidths.append({**keys, "transport": transport, **_scalars(values)})
    pour_rows(f"{name}_time", times, sink, path)
    pour_rows(f"{name}_bandwidth", bandwidths, sink, path)


def pour_matrix(name: str, tree: object, levels: Sequence[str], sink: Sink, path: Path) -> None:
    """Pour a report on links as ``reported_<name>``; the last level, ``"0-8"``, becomes src and dst."""
    rows: list[Row] = []
    for keys, leaf in _leaves(tree, levels, sink, path):
        src, _, dst = keys.pop(levels[-1]).partition("-")
        ends = {"src": int(src), "dst": int(dst)} if _is_rank(src) and _is_rank(dst) else {"src": -1, "dst": -1}
        rows.append({**keys, **ends, **_scalars(leaf)})
    pour_rows(name, rows, sink, path)


def _leaves(
    tree: object, levels: Sequence[str], sink: Sink, path: Path, above: Mapping[str, str] | None = None
) -> Iterator[tuple[Row, Mapping[str, Any]]]:
    """Every leaf with the keys on the way to it; what is no object where one should be is counted as lost."""
    if not isinstance(tree, dict):
        sink.quality("unexpected-json", example=f"{tree!r}"[:80], file=path)
        sink.lost()
    elif levels:
        for key, below in tree.items():
            yield from _leaves(below, levels[1:], sink, path, {**(above or {}), levels[0]: key})
    else:
        yield dict(above or {}), tree


def _scalars(values: object) -> Row:
    return dict(values) if isinstance(values, dict) else {}


def _is_rank(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10
