"""``torch.npu``: which devices there are, which is current, and what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from trainwright.emulate.device import STATE

Device = Any  # torch.device, a name, an index or None


def index_of(device: Any = None, optional: bool = True) -> int:
    """The index that a device, a string, a number or nothing stands for.

    Raises:
        ValueError: it is a device of another type.
        RuntimeError: there is no such device.
    """
    if device is None:
        return STATE.current
    if isinstance(device, int):
        index: int | None = device if device >= 0 else STATE.current
    else:
        wanted = torch.device(device)
        if wanted.type != "npu":
            raise ValueError(f"Expected a npu device, but got: {wanted}")
        index = wanted.index
    index = STATE.current if index is None else index
    STATE.check(index)
    return index


def is_available() -> bool:
    """Yes: the emulated devices are always there."""
    return True


def is_initialized() -> bool:
    """Yes; there is nothing to start."""
    return True


def init() -> None:
    """Nothing: the emulated devices need no start."""


def device_count() -> int:
    """How many devices there are."""
    return STATE.count


def current_device() -> int:
    """Index of the current device."""
    return STATE.current


def set_device(device: Device) -> None:
    """Make a device the current one of this thread."""
    STATE.select(index_of(device))


class device:  # noqa: N801 - the name that torch gives it
    """Context manager: another current device inside the block; an index below 0 changes nothing."""

    def __init__(self, device: Any) -> None:
        negative = isinstance(device, int) and device < 0
        self.idx = -1 if device is None or negative else index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = STATE.current
            STATE.select(self.idx)

    def __exit__(self, *_: object) -> None:
        if self.idx >= 0:
            STATE.select(self.prev_idx)


class device_of(device):  # noqa: N801
    """Context manager: the device of a tensor is the current one inside the block."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if getattr(obj, "is_npu", False) else None)


def synchronize(device: Device = None) -> None:
    """Nothing to wait for: every kernel has ended when its call returns."""
    index_of(device)


def get_device_name(device: Device = None) -> str:
    """The chip's name; it says that it is emulated."""
    index_of(device)
    return f"{STATE.chip.name} (emulated)"


@dataclass(frozen=True)
class DeviceProperties:
    """What a chip is; sizes in bytes, cores by number."""

    name: str
    total_memory: int
    cube_core_num: int
    vector_core_num: int
    multi_processor_count: int
    L2_cache_size: int


def get_device_properties(device: Device = None) -> DeviceProperties:
    """Name, memory and cores of a device."""
    index = index_of(device)
    chip = STATE.chip
    return DeviceProperties(
        name=get_device_name(index),
        total_memory=STATE.memories[index].limit_bytes,
        cube_core_num=chip.cube_cores,
        vector_core_num=chip.vector_cores,
        multi_processor_count=chip.cube_cores,
        L2_cache_size=192 << 20,
    )


def get_device_capability(device: Device = None) -> tuple[int, int] | None:
    """None, as on a device without the variable TORCH_NPU_DEVICE_CAPABILITY: an NPU has no CUDA capability."""
    import os

    index_of(device)
    given = os.environ.get("TORCH_NPU_DEVICE_CAPABILITY", "")
    major, _, minor = given.partition(".")
    return (int(major), int(minor or 0)) if major.isdigit() else None


def can_device_access_peer(device_id: int, peer_device_id: int) -> bool:
    """Whether one device may read another's memory."""
    STATE.check(device_id)
    STATE.check(peer_device_id)
    return device_id != peer_device_id


def utilization(device: Device = None) -> int:
    """0: nothing is measured on an emulated device."""
    index_of(device)
    return 0


def is_bf16_supported() -> bool:
    """Whether the chip computes in bfloat16."""
    return STATE.chip.bf16


def is_support_inf_nan() -> bool:
    """Whether overflow gives Inf and NaN; otherwise values saturate."""
    return not STATE.saturates
