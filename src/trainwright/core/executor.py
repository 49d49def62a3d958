"""Run one function over many units of work (a rank, a file, an API), in order, isolated from each other.

A unit that fails costs only itself: its outcome carries the error and the others go on. Inputs and outputs are
small values such as paths; data stays on disk. Executors are leaves: `trainwright.core.executors.local` is a
process pool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from trainwright.core.errors import TrainwrightError
from trainwright.core.registry import Registry

ItemT = TypeVar("ItemT")
ValueT = TypeVar("ValueT")

#: Called by the work as ``report(done, total)`` in whatever unit it likes, for example bytes read.
Report = Callable[[int, int], None]
#: Called in the parent as ``on_progress(index, done, total)``; ``done == total`` when the unit has ended.
OnProgress = Callable[[int, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[ValueT]):
    """What became of one unit of work: a value or an error, never both."""

    value: ValueT | None = None
    error: TrainwrightError | None = None


class Executor(Protocol):
    """The contract of an executor leaf."""

    @property
    def code(self) -> str:
        """Name of the leaf."""

    @property
    def summary(self) -> str:
        """One sentence for the catalogue."""

    def map(
        self,
        work: Callable[[ItemT, Report], ValueT],
        items: Sequence[ItemT],
        *,
        workers: int,
        on_progress: OnProgress,
    ) -> list[Outcome[ValueT]]:
        """Apply `work` to every item on up to `workers` workers; outcomes come back in the order of `items`.

        `work` must be importable (a module-level function) and raise `TrainwrightError` for what it cannot do.
        """


EXECUTORS: Registry[Any] = Registry(kind="executor", package="trainwright.core.executors", constant="EXECUTOR")


def no_progress(_index: int, _done: int, _total: int) -> None:
    """An `OnProgress` that shows nothing."""
