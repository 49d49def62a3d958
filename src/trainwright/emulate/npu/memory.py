"""``torch.npu`` memory functions. Only storages of tensors count; there is no caching allocator to hold more."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from trainwright.core.units import format_bytes
from trainwright.emulate.device import STATE
from trainwright.emulate.npu.devices import Device, index_of


def memory_allocated(device: Device = None) -> int:
    """Bytes in tensors."""
    return STATE.memories[index_of(device)].allocated_bytes


def max_memory_allocated(device: Device = None) -> int:
    """Most bytes in tensors since the last reset."""
    return STATE.memories[index_of(device)].peak_bytes


def reset_peak_memory_stats(device: Device = None) -> None:
    """Let the peak start from now."""
    memory = STATE.memories[index_of(device)]
    memory.peak_bytes = memory.allocated_bytes


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Free and total bytes."""
    memory = STATE.memories[index_of(device)]
    return memory.limit_bytes - memory.allocated_bytes, memory.limit_bytes


def memory_stats(device: Device = None) -> dict[str, Any]:
    """Counters under the names that torch uses; those of a caching allocator equal those of the tensors."""
    memory = STATE.memories[index_of(device)]
    found: dict[str, Any] = OrderedDict()
    for group in ("active_bytes", "allocated_bytes", "reserved_bytes", "requested_bytes"):
        found[f"{group}.all.current"] = memory.allocated_bytes
        found[f"{group}.all.peak"] = memory.peak_bytes
    found["allocation.all.current"] = len(memory.live)
    found["allocation.all.allocated"] = memory.allocations
    found["num_alloc_retries"] = 0
    found["num_ooms"] = memory.refused
    return found


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """`memory_stats` with a level for each part of a name."""
    found: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        level = found
        *parents, last = name.split(".")
        for parent in parents:
            level = level.setdefault(parent, {})
        level[last] = value
    return found


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The counters in words."""
    index = index_of(device)
    memory = STATE.memories[index]
    return (
        f"NPU {index} (emulated): {format_bytes(memory.allocated_bytes)} in {len(memory.live)} tensors, peak "
        f"{format_bytes(memory.peak_bytes)}, of {format_bytes(memory.limit_bytes)}; {memory.allocations} allocations, "
        f"{memory.refused} refused for memory"
    )


def memory_snapshot() -> list[dict[str, Any]]:
    """No segments: there is no caching allocator."""
    return []


def empty_cache() -> None:
    """Nothing: no memory is kept for later."""


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Let this process have a part of a device's memory.

    Raises:
        ValueError: the fraction is not between 0 and 1.
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    memory = STATE.memories[index_of(device)]
    memory.fraction = float(fraction)


def get_per_process_memory_fraction(device: Device = None) -> float:
    """The part of a device's memory that this process may have."""
    return STATE.memories[index_of(device)].fraction


def host_memory_stats() -> dict[str, Any]:
    """Nothing is counted of the host."""
    return OrderedDict()


def get_allocator_backend() -> str:
    """How memory is allocated."""
    return "native"


def _nothing(device: Device = None) -> None:
    index_of(device)


memory_reserved = memory_cached = memory_allocated
max_memory_reserved = max_memory_cached = max_memory_allocated
reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
reset_accumulated_memory_stats = _nothing
host_memory_stats_as_nested_dict = host_memory_stats
host_empty_cache = empty_virt_addr_cache = ipc_collect = empty_cache
reset_accumulated_host_memory_stats = reset_peak_host_memory_stats = empty_cache
