"""Progress of long work on standard error: a bar per rank on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trainwright.core.executor import OnProgress, no_progress

#: More bars than this do not fit a terminal: the rest share the bar of the whole.
MOST_BARS = 16


@contextmanager
def progress(label: str, *, numbered: bool = True) -> Iterator[OnProgress]:
    """An `OnProgress` that draws while the block runs; bars of several units are `numbered`."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    # no refresh thread: workers are forked, which is safe only while there is one thread
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bars:
        yield _Bars(bars, f"{label} {{}}" if numbered else label)


class _Bars:
    """Draws one bar per unit of work."""

    def __init__(self, bars: Any, label: str) -> None:
        self._bars = bars
        self._label = label
        self._tasks: dict[int, Any] = {}

    def __call__(self, index: int, done: int, total: int) -> None:
        if index not in self._tasks:
            if len(self._tasks) >= MOST_BARS:
                return
            self._tasks[index] = self._bars.add_task(self._label.format(index), total=total)
        self._bars.update(self._tasks[index], completed=done, total=total)
        self._bars.refresh()
