"""The state of the emulated devices of this process: how many, which is current, and what memory each one holds.

There is one state, as there is one set of devices in a machine: `STATE`. torch keeps the registration of a device
until the process ends, so `install` fills it once.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from trainwright.core.errors import InputError
from trainwright.emulate.chip import CHIPS, Chip

GIB = 1 << 30


@dataclass
class Memory:
    """Bytes on one device. Only storages count: temporaries inside a CPU kernel are not seen."""

    limit_bytes: int
    allocated_bytes: int = 0
    peak_bytes: int = 0
    allocations: int = 0
    refused: int = 0
    fraction: float = 1.0
    live: set[Any] = field(default_factory=set)


@dataclass
class State:
    """Everything about the devices that changes while a program runs."""

    memories: list[Memory] = field(default_factory=list)
    chip: Chip = field(default_factory=lambda: CHIPS["a2"])
    #: Whether overflow saturates instead of giving Inf and NaN.
    saturates: bool = False
    #: Whether a value saturated since a program cleared the flag.
    overflowed: bool = False
    #: Cube and vector cores that a program lets a device use; -1: all.
    core_limits: dict[int, tuple[int, int]] = field(default_factory=dict)
    here: threading.local = field(default_factory=threading.local)

    @property
    def count(self) -> int:
        """How many devices there are."""
        return len(self.memories)

    @property
    def current(self) -> int:
        """Index of the current device of this thread."""
        return getattr(self.here, "index", 0)

    def select(self, index: int) -> None:
        """Make a device the current one.

        Raises:
            RuntimeError: as on a real machine, there is no such device.
        """
        self.check(index)
        self.here.index = index

    def check(self, index: int) -> None:
        """Refuse an index that no device has."""
        if not 0 <= index < self.count:
            raise RuntimeError(
                f"Invalid device ID: npu:{index}; the emulated machine has {self.count} device(s), npu:0 to "
                f"npu:{self.count - 1}. Give --devices {index + 1} to have more"
            )

    @contextmanager
    def on(self, index: int) -> Iterator[None]:
        """Another current device inside a block."""
        before = self.current
        self.select(index)
        try:
            yield
        finally:
            self.here.index = before


STATE = State()


def configure(*, devices: int, memory_bytes: int, chip: Chip, saturates: bool) -> None:
    """Set the devices up.

    Raises:
        InputError: no device, or none of its memory.
    """
    if not 1 <= devices <= 64:
        raise InputError(f"{devices} devices cannot be emulated", allowed="1 to 64")
    if memory_bytes < 1:
        raise InputError("an emulated device needs some memory", todo="give its size in GiB, for example --memory 64")
    STATE.chip, STATE.saturates = chip, saturates
    STATE.memories[:] = [Memory(limit_bytes=memory_bytes) for _ in range(devices)]


class _Held(weakref.ref[Any]):
    """A storage on a device; gives its bytes back when it dies."""

    __slots__ = ("index", "size_bytes")
    index: int
    size_bytes: int


def _released(held: Any) -> None:
    memory = STATE.memories[held.index]
    memory.allocated_bytes -= held.size_bytes
    memory.live.discard(held)


def hold(storage: Any, index: int) -> None:
    """Count a new storage.

    Raises:
        torch.OutOfMemoryError: the device does not have that much.
    """
    size_bytes = storage.nbytes()
    if not size_bytes:
        return
    memory = STATE.memories[index]
    used = memory.allocated_bytes + size_bytes
    if used > memory.limit_bytes * memory.fraction:
        memory.refused += 1
        _out_of_memory(memory, index, size_bytes)
    held = _Held(storage, _released)
    held.index, held.size_bytes = index, size_bytes
    memory.live.add(held)
    memory.allocated_bytes = used
    memory.allocations += 1
    memory.peak_bytes = max(memory.peak_bytes, used)


def _out_of_memory(memory: Memory, index: int, size_bytes: int) -> None:
    import torch

    raise torch.OutOfMemoryError(
        f"NPU out of memory. Tried to allocate {size_bytes / GIB:.2f} GiB (NPU {index}; "
        f"{memory.limit_bytes / GIB:.2f} GiB total capacity; {memory.allocated_bytes / GIB:.2f} GiB already allocated; "
        f"{(memory.limit_bytes - memory.allocated_bytes) / GIB:.2f} GiB free). "
        "Emulated: the size of a device is set with --memory"
    )
