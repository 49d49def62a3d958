"""Python functions of torch that ask C++ about the device, and get the emulator's answer instead."""

from __future__ import annotations

from typing import Any

import torch

from trainwright.emulate import npu
from trainwright.emulate.device import STATE
from trainwright.emulate.npu.random import Generator
from trainwright.emulate.relabel import storage_as_cpu


def install_patches() -> None:
    """Replace them. All are plain Python names of torch; C++ calls none of them."""
    torch.Generator = Generator
    _install_storage()
    _install_accelerator()


def _install_storage() -> None:
    """Storages of the device: make one, resize one."""
    plain_new, plain_resize = torch.UntypedStorage.__new__, torch.UntypedStorage.resize_

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None or torch.device(device).type != "npu":
            return plain_new(cls, *args, **kwargs) if device is None else plain_new(cls, *args, device=device, **kwargs)
        size = args[0] if args else kwargs.get("size", 0)
        return torch.empty(size, dtype=torch.uint8, device=device).untyped_storage()

    def resize_(self: Any, size: int) -> Any:
        if self.device.type != "npu":
            return plain_resize(self, size)
        with storage_as_cpu(self):
            return plain_resize(self, size)

    torch.UntypedStorage.__new__ = new
    torch.UntypedStorage.resize_ = resize_


def _install_accelerator() -> None:
    """``torch.accelerator``: its answers come from a C++ guard that knows one device."""
    accelerator = torch.accelerator
    replaced = {
        "device_count": npu.device_count,
        "is_available": npu.is_available,
        "current_device_index": npu.current_device,
        "current_device_idx": npu.current_device,
        "set_device_index": npu.set_device,
        "set_device_idx": npu.set_device,
        "current_stream": npu.current_stream,
        "set_stream": npu.set_stream,
        "synchronize": npu.synchronize,
        "empty_cache": npu.empty_cache,
        "memory_stats": npu.memory_stats,
        "memory_allocated": npu.memory_allocated,
        "max_memory_allocated": npu.max_memory_allocated,
        "memory_reserved": npu.memory_reserved,
        "max_memory_reserved": npu.max_memory_reserved,
        "reset_peak_memory_stats": npu.reset_peak_memory_stats,
        "reset_accumulated_memory_stats": npu.reset_accumulated_memory_stats,
        "get_memory_info": npu.mem_get_info,
        "device_index": npu.device,
    }
    for name, function in replaced.items():
        if hasattr(accelerator, name):
            setattr(accelerator, name, function)
    accelerator.current_accelerator = lambda check_available=False: torch.device("npu")
    assert STATE.count
