"""Run units of work on this machine: in this process for one worker, else in a pool of processes.

Workers are forked while the parent has a single thread (cheap start-up), else spawned. A worker that dies (for
example killed for memory) costs its unit, and the units it never started are tried once more on a fresh pool.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from trainwright.core.errors import TrainwrightError, WorkerError
from trainwright.core.executor import OnProgress, Outcome, Report

ItemT = TypeVar("ItemT")
ValueT = TypeVar("ValueT")

POLL_S = 0.1

_progress_queue: Any = None


def _start_worker(progress: Any) -> None:
    """Prepare a worker: Ctrl-C is the parent's to handle."""
    global _progress_queue  # noqa: PLW0603 - a pool passes state to its workers only this way
    _progress_queue = progress
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _attempt(work: Callable[[ItemT, Report], ValueT], item: ItemT, report: Report) -> Outcome[ValueT]:
    try:
        return Outcome(value=work(item, report))
    except TrainwrightError as error:
        return Outcome(error=error)
    except MemoryError:
        return Outcome(error=WorkerError(f"out of memory while working on {item}", todo="use fewer workers"))


def _run_in_worker(work: Callable[[ItemT, Report], ValueT], item: ItemT, index: int) -> Outcome[ValueT]:
    return _attempt(work, item, lambda done, total: _progress_queue.put((index, done, total)))


class LocalExecutor:
    """See the module's text; the contract is `trainwright.core.executor.Executor`."""

    code = "local"
    summary = "Runs units of work on this machine, in a pool of processes."

    def map(
        self,
        work: Callable[[ItemT, Report], ValueT],
        items: Sequence[ItemT],
        *,
        workers: int,
        on_progress: OnProgress,
    ) -> list[Outcome[ValueT]]:
        """Outcomes in the order of `items`; at most `workers` units run at once."""
        if workers <= 1 or len(items) <= 1:
            return [
                _attempt(work, item, lambda done, total, at=index: on_progress(at, done, total))  # type: ignore[misc]
                for index, item in enumerate(items)
            ]
        outcomes: dict[int, Outcome[ValueT]] = {}
        self._run_pool(work, items, list(range(len(items))), workers, on_progress, outcomes)
        left = [index for index in range(len(items)) if index not in outcomes]
        for index in left:  # a worker died: alone in a pool of its own, only the guilty unit fails again
            self._run_pool(work, items, [index], 1, on_progress, outcomes)
            outcomes.setdefault(
                index,
                Outcome(error=WorkerError(f"the worker for {items[index]} died", todo="free memory or use --jobs 1")),
            )
        return [outcomes[index] for index in range(len(items))]

    def _run_pool(
        self,
        work: Callable[[ItemT, Report], ValueT],
        items: Sequence[ItemT],
        indices: Sequence[int],
        workers: int,
        on_progress: OnProgress,
        outcomes: dict[int, Outcome[ValueT]],
    ) -> None:
        """Fill `outcomes` for `indices`; those that a dead worker took along stay missing."""
        single = threading.active_count() == 1 and sys.platform.startswith("linux")
        context = multiprocessing.get_context("fork" if single else "spawn")
        progress = context.SimpleQueue()
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(progress,))
        try:
            futures: dict[Future[Outcome[ValueT]], int] = {
                pool.submit(_run_in_worker, work, items[index], index): index for index in indices
            }
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
                _drain(progress, on_progress)
                for future in done:
                    _keep(future, futures[future], outcomes)
            _drain(progress, on_progress)
            pool.shutdown(wait=True)  # its thread must be gone before the next pool, which could not fork beside it
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.terminate()


def _keep(future: Future[Outcome[ValueT]], index: int, outcomes: dict[int, Outcome[ValueT]]) -> None:
    try:
        outcomes[index] = future.result()
    except BrokenProcessPool:
        return


def _drain(progress: Any, on_progress: OnProgress) -> None:
    while not progress.empty():
        try:
            on_progress(*progress.get())
        except queue.Empty:
            return


EXECUTOR = LocalExecutor()
