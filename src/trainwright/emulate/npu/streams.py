"""``torch.npu`` streams and events. Kernels run when they are called, so a stream is a name and an event a time."""

from __future__ import annotations

import itertools
import time
from typing import Any

import torch

from trainwright.emulate.device import STATE
from trainwright.emulate.npu.devices import Device, index_of

_PRIVATEUSE1 = 20  # c10::DeviceType
_NUMBERS = itertools.count(1)


class Stream(torch.Stream):
    """A queue of kernels, each of which has ended when the next is put in."""

    def __new__(cls, device: Device = None, priority: int = 0, **given: Any) -> Stream:
        index = given.get("device_index", -1)
        index = index_of(device) if index < 0 else index
        number = given.get("stream_id", next(_NUMBERS))
        made: Stream = super().__new__(cls, stream_id=number, device_index=index, device_type=_PRIVATEUSE1)
        return made

    @property
    def npu_stream(self) -> int:
        """The number of the stream."""
        return self.stream_id

    def query(self) -> bool:
        """Whether everything in the stream has ended: always."""
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def record_event(self, event: Any = None) -> Any:
        """Note the time, in a new event if none is given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def set_data_preprocess_stream(self, is_data_preprocess_stream: bool = False) -> None:
        """Nothing: a hint for the real device."""

    def __enter__(self) -> Stream:
        _entered().append(current_stream(self.device_index))
        set_stream(self)
        return self

    def __exit__(self, *_: object) -> None:
        set_stream(_entered().pop())

    def __repr__(self) -> str:
        return f"<torch_npu.npu.Stream device=npu:{self.device_index} npu_stream={self.stream_id:#x}>"


class Event:
    """A point in time of a stream."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.enable_timing = enable_timing
        self.recorded_ns: int | None = None
        self.device = torch.device("npu", STATE.current)

    def record(self, stream: Any = None) -> None:
        """Take the time."""
        self.recorded_ns = time.perf_counter_ns()

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""

    def query(self) -> bool:
        """Whether all work before the event has ended: always."""
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two events, of this computer's clock: they say nothing about an NPU.

        Raises:
            RuntimeError: one of them was not recorded, or was made without ``enable_timing``.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("both events need enable_timing=True to have a time between them")
        if self.recorded_ns is None or end_event.recorded_ns is None:
            raise RuntimeError("both events must be recorded before the time between them is asked for")
        return (end_event.recorded_ns - self.recorded_ns) / 1e6


def _entered() -> list[Any]:
    if not hasattr(STATE.here, "streams_entered"):
        STATE.here.streams_entered = []
    found: list[Any] = STATE.here.streams_entered
    return found


def _current() -> dict[int, Stream]:
    if not hasattr(STATE.here, "streams"):
        STATE.here.streams = {}
    found: dict[int, Stream] = STATE.here.streams
    return found


def default_stream(device: Device = None) -> Stream:
    """The stream that kernels go to unless said otherwise."""
    return Stream(stream_id=0, device_index=index_of(device))


def current_stream(device: Device = None) -> Stream:
    """The stream that this thread's kernels go to."""
    index = index_of(device)
    return _current().get(index) or default_stream(index)


def set_stream(stream: Any) -> None:
    """Let this thread's kernels go to a stream; its device becomes the current one."""
    if stream is None:
        return
    _current()[stream.device_index] = stream
    STATE.select(stream.device_index)


class StreamContext:
    """Context manager: kernels inside the block go to a stream."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.before: Stream | None = None
        self.before_index = -1

    def __enter__(self) -> None:
        if self.stream is not None:
            self.before_index = STATE.current
            self.before = current_stream(self.stream.device_index)
            set_stream(self.stream)

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            set_stream(self.before)
            STATE.select(self.before_index)


def stream(stream: Any) -> StreamContext:
    """`StreamContext` under the name of torch."""
    return StreamContext(stream)


ExternalStream = SyncLaunchStream = Stream
ExternalEvent = Event
