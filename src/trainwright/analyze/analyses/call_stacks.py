"""Where in the program the time is spent: operators by the Python stack that called them.

The stack is the one the profiler wrote beside each operator, else the Python functions recorded around it. Stacks are
told apart by their innermost frames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.calls import Calls, calls_of, detail, nearest
from trainwright.analyze.fields import RANK, count, ns, rows, text, texts_at
from trainwright.analyze.grouping import group_by
from trainwright.core.result import Cell, Result, TableSpec
from trainwright.trace.store import RankStore

I64 = npt.NDArray[np.int64]

#: Innermost frames kept of a stack.
FRAMES = 10
#: Rows of the table per rank.
ROWS = 200
#: Frames stand on lines of their own; some profilers write semicolons.
_SEPARATOR = re.compile(r"\s*[;\r\n]+\s*")
#: Differs from process to process, so stacks of two ranks or runs would never be equal.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

CALL_STACKS = TableSpec(
    name="call_stacks",
    title="Where in the program operators are called",
    help=f"Per rank and stack, largest device time first, then largest host self time; the first {ROWS} per rank.",
    columns=(
        RANK,
        text("stack", f"innermost {FRAMES} frames, innermost first, one per line"),
        count("count", "operator calls with this stack"),
        ns("device_ns", "device time those operators launched"),
        ns("self_ns", "host self time of those operators"),
    ),
    weight=("device_ns", "self_ns"),
)


def analyze(rank: RankStore) -> Result:
    """One row per stack; no rows where no stacks were recorded."""
    calls = calls_of(rank)
    stack, texts = _written(rank, calls)
    if not texts:
        stack, texts = _from_python(rank, calls)
    return Result(tables=(CALL_STACKS.table(_rows(rank, calls, stack, texts)),))


def _rows(rank: RankStore, calls: Calls, stack: I64, texts: list[str]) -> list[tuple[Cell, ...]]:
    known = np.flatnonzero(stack >= 0)
    groups = group_by(stack[known])
    device_ns = groups.sum(calls.device_ns[known])
    self_ns = groups.sum(rank.column("slices", "self_ns")[calls.rows[known]])
    order = np.lexsort((-self_ns, -device_ns))[:ROWS]
    return rows(
        [rank.rank] * len(order),
        texts_at(texts, groups.key(stack[known])[order]),
        groups.count[order],
        device_ns[order],
        self_ns[order],
    )


def _written(rank: RankStore, calls: Calls) -> tuple[I64, list[str]]:
    """Number of the stack of each operator (-1: none) and the stacks, as the profiler wrote them."""
    stacks = ["\n".join(_SEPARATOR.split(text.strip(" ;\r\n"))[:FRAMES]) for text in rank.texts("ops", "stack")]
    number, texts = _numbered(stacks)
    return number[detail(rank, "ops", "stack", calls.rows)], texts


def _numbered(texts: Sequence[str]) -> tuple[I64, list[str]]:
    """For each code of a text column the number of its text without addresses (last: -1 for null), and those texts."""
    numbers: dict[str, int] = {}
    number = [numbers.setdefault(_ADDRESS.sub("", text), len(numbers)) for text in texts]
    return np.array([*number, -1], np.int64), list(numbers)


def _from_python(rank: RankStore, calls: Calls) -> tuple[I64, list[str]]:
    """The same out of the Python functions around each operator: one frame further out per round."""
    parent = rank.column("slices", "parent")
    number, name_texts = _numbered(rank.texts("slices", "name"))
    names = number[rank.column("slices", "name")]
    near = np.append(nearest(parent, rank.where("slices", "kind", "python")), -1)
    frame = near[calls.rows]
    stack = np.where(frame >= 0, 0, -1)
    texts = [""] if (frame >= 0).any() else []
    for _ in range(FRAMES):
        at = np.flatnonzero(frame >= 0)
        if not len(at):
            break
        groups = group_by(stack[at], names[frame[at]])
        inner = texts_at(texts, groups.key(stack[at]))
        outer = texts_at(name_texts, groups.key(names[frame[at]]))
        stack[at] = groups.number + len(texts)
        texts.extend(f"{head}\n{tail}".lstrip("\n") for head, tail in zip(inner, outer, strict=True))
        frame[at] = near[parent[frame[at]]]
    return stack, texts


ANALYSIS = Analysis(
    code="call-stacks",
    summary="Device and host time by the Python call stack of the operators, where stacks were recorded.",
    scope="rank",
    tables=(CALL_STACKS,),
    order=34,
    per_rank=analyze,
)
