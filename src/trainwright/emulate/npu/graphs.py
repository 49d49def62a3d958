"""``torch.npu`` graphs: refused, with the reason. Making one would pass here and record nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_MESSAGE = (
    "{} is not emulated: a captured graph replays kernels over fixed memory, and the emulated NPU has no kernels to "
    "record. A real NPU captures and replays it. Run the step without the graph to emulate it"
)


class NPUGraph:
    """A recorded graph; making one is refused."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NPUGraph:
        raise NotImplementedError(_MESSAGE.format("torch.npu.NPUGraph"))


class graph:  # noqa: N801 - the name that torch gives it
    """Capture of a graph; it is refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_MESSAGE.format("torch.npu.graph"))


def make_graphed_callables(callables: Any, *args: Any, **kwargs: Any) -> Any:
    """Functions that replay a graph; refused."""
    raise NotImplementedError(_MESSAGE.format("torch.npu.make_graphed_callables"))


def is_current_stream_capturing() -> bool:
    """Never."""
    return False


def graph_pool_handle() -> tuple[int, int]:
    """A memory pool for graphs; one number is as good as another here."""
    return (0, 0)


def refused(name: str, real: str) -> Callable[..., Any]:
    """A function of the device that cannot be emulated: its call names itself and says what a real device does."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"torch.npu.{name} is not emulated; a real NPU {real}")

    function.__name__ = name
    function.__doc__ = f"Not emulated; a real NPU {real}."
    return function


def storage_type(name: str, dtype: torch.dtype) -> type:
    """A typed storage of the device such as ``torch.npu.FloatStorage``."""

    def dtype_of(_: Any) -> torch.dtype:
        return dtype

    return type(name, (torch.storage._LegacyStorage,), {"dtype": property(dtype_of), "__module__": "torch.npu"})
