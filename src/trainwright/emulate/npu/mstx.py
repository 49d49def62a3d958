"""``torch.npu.mstx``: marks and ranges. Under a torch profiler they become its ranges."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import torch

_OPEN: dict[int, Any] = {}
_NUMBERS = itertools.count(1)


class mstx:  # noqa: N801 - the name that torch_npu gives it
    """Marks for the profiler."""

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """A point in time."""
        with torch.profiler.record_function(message):
            pass

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin a range; its number."""
        number = next(_NUMBERS)
        entered = torch.profiler.record_function(message)
        entered.__enter__()
        _OPEN[number] = entered
        return number

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """End a range; a number that is not open is ignored, as on the device."""
        entered = _OPEN.pop(range_id, None)
        if entered is not None:
            entered.__exit__(None, None, None)

    @staticmethod
    def mstx_range(message: str, stream: Any = None, domain: str = "default") -> Callable[[Callable[..., Any]], Any]:
        """Decorator: a range around each call."""

        def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def inner(*args: Any, **kwargs: Any) -> Any:
                with torch.profiler.record_function(message):
                    return function(*args, **kwargs)

            return inner

        return wrapped
