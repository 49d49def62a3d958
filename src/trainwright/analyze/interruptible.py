"""Run a query so that Ctrl-C ends it: DuckDB looks for signals between its tasks only, if it gets there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

ValueT = TypeVar("ValueT")


def interruptible(connection: Any, work: Callable[[], ValueT]) -> ValueT:
    """What `work`, which runs queries of a DuckDB connection, returns; this thread only waits, and hears signals."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(work)
        try:
            return running.result()
        except KeyboardInterrupt:
            while not running.done():  # it may not have begun
                connection.interrupt()
                wait([running], timeout=0.1)
            raise
