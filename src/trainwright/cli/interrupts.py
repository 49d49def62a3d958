"""Ctrl-C that is not forgotten: native code may turn the exception it raises into another one.

DuckDB, for example, answers an interrupted query with a `RuntimeError`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.seen = False

    def note(self, _number: int, _frame: FrameType | None) -> None:
        """The handler of the signal."""
        self.seen = True
        raise KeyboardInterrupt


@contextmanager
def noted_interrupts() -> Iterator[Interrupts]:
    """Note Ctrl-C while the block runs. Where somebody else handles the signal, it stays theirs."""
    interrupts = Interrupts()
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
