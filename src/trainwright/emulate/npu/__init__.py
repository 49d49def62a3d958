"""What answers as ``torch.npu`` and ``torch_npu.npu`` under emulation: the public names of torch_npu over one state."""

from __future__ import annotations

from typing import Any

import torch

from trainwright.emulate.npu import amp as amp
from trainwright.emulate.npu import memory as memory
from trainwright.emulate.npu import random as random
from trainwright.emulate.npu import streams as streams
from trainwright.emulate.npu.devices import DeviceProperties as DeviceProperties
from trainwright.emulate.npu.devices import can_device_access_peer as can_device_access_peer
from trainwright.emulate.npu.devices import current_device as current_device
from trainwright.emulate.npu.devices import device as device
from trainwright.emulate.npu.devices import device_count as device_count
from trainwright.emulate.npu.devices import device_of as device_of
from trainwright.emulate.npu.devices import get_device_capability as get_device_capability
from trainwright.emulate.npu.devices import get_device_name as get_device_name
from trainwright.emulate.npu.devices import get_device_properties as get_device_properties
from trainwright.emulate.npu.devices import init as init
from trainwright.emulate.npu.devices import is_available as is_available
from trainwright.emulate.npu.devices import is_bf16_supported as is_bf16_supported
from trainwright.emulate.npu.devices import is_initialized as is_initialized
from trainwright.emulate.npu.devices import is_support_inf_nan as is_support_inf_nan
from trainwright.emulate.npu.devices import set_device as set_device
from trainwright.emulate.npu.devices import synchronize as synchronize
from trainwright.emulate.npu.devices import utilization as utilization
from trainwright.emulate.npu.graphs import NPUGraph as NPUGraph
from trainwright.emulate.npu.graphs import graph as graph
from trainwright.emulate.npu.graphs import graph_pool_handle as graph_pool_handle
from trainwright.emulate.npu.graphs import is_current_stream_capturing as is_current_stream_capturing
from trainwright.emulate.npu.graphs import make_graphed_callables as make_graphed_callables
from trainwright.emulate.npu.graphs import refused, storage_type
from trainwright.emulate.npu.memory import empty_cache as empty_cache
from trainwright.emulate.npu.memory import empty_virt_addr_cache as empty_virt_addr_cache
from trainwright.emulate.npu.memory import get_allocator_backend as get_allocator_backend
from trainwright.emulate.npu.memory import get_per_process_memory_fraction as get_per_process_memory_fraction
from trainwright.emulate.npu.memory import host_empty_cache as host_empty_cache
from trainwright.emulate.npu.memory import host_memory_stats as host_memory_stats
from trainwright.emulate.npu.memory import host_memory_stats_as_nested_dict as host_memory_stats_as_nested_dict
from trainwright.emulate.npu.memory import ipc_collect as ipc_collect
from trainwright.emulate.npu.memory import max_memory_allocated as max_memory_allocated
from trainwright.emulate.npu.memory import max_memory_cached as max_memory_cached
from trainwright.emulate.npu.memory import max_memory_reserved as max_memory_reserved
from trainwright.emulate.npu.memory import mem_get_info as mem_get_info
from trainwright.emulate.npu.memory import memory_allocated as memory_allocated
from trainwright.emulate.npu.memory import memory_cached as memory_cached
from trainwright.emulate.npu.memory import memory_reserved as memory_reserved
from trainwright.emulate.npu.memory import memory_snapshot as memory_snapshot
from trainwright.emulate.npu.memory import memory_stats as memory_stats
from trainwright.emulate.npu.memory import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from trainwright.emulate.npu.memory import memory_summary as memory_summary
from trainwright.emulate.npu.memory import reset_accumulated_host_memory_stats as reset_accumulated_host_memory_stats
from trainwright.emulate.npu.memory import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from trainwright.emulate.npu.memory import reset_max_memory_allocated as reset_max_memory_allocated
from trainwright.emulate.npu.memory import reset_max_memory_cached as reset_max_memory_cached
from trainwright.emulate.npu.memory import reset_peak_host_memory_stats as reset_peak_host_memory_stats
from trainwright.emulate.npu.memory import reset_peak_memory_stats as reset_peak_memory_stats
from trainwright.emulate.npu.memory import set_per_process_memory_fraction as set_per_process_memory_fraction
from trainwright.emulate.npu.mstx import mstx as mstx
from trainwright.emulate.npu.random import Generator as Generator
from trainwright.emulate.npu.random import get_rng_state as get_rng_state
from trainwright.emulate.npu.random import get_rng_state_all as get_rng_state_all
from trainwright.emulate.npu.random import initial_seed as initial_seed
from trainwright.emulate.npu.random import manual_seed as manual_seed
from trainwright.emulate.npu.random import manual_seed_all as manual_seed_all
from trainwright.emulate.npu.random import seed as seed
from trainwright.emulate.npu.random import seed_all as seed_all
from trainwright.emulate.npu.random import set_rng_state as set_rng_state
from trainwright.emulate.npu.random import set_rng_state_all as set_rng_state_all
from trainwright.emulate.npu.settings import are_compatible_impl_enabled as are_compatible_impl_enabled
from trainwright.emulate.npu.settings import clear_npu_overflow_flag as clear_npu_overflow_flag
from trainwright.emulate.npu.settings import finalize_dump as finalize_dump
from trainwright.emulate.npu.settings import get_amp_supported_dtype as get_amp_supported_dtype
from trainwright.emulate.npu.settings import get_autocast_dtype as get_autocast_dtype
from trainwright.emulate.npu.settings import get_device_limit as get_device_limit
from trainwright.emulate.npu.settings import get_mm_bmm_format_nd as get_mm_bmm_format_nd
from trainwright.emulate.npu.settings import get_npu_overflow_flag as get_npu_overflow_flag
from trainwright.emulate.npu.settings import get_stream_limit as get_stream_limit
from trainwright.emulate.npu.settings import get_sync_debug_mode as get_sync_debug_mode
from trainwright.emulate.npu.settings import init_dump as init_dump
from trainwright.emulate.npu.settings import is_autocast_enabled as is_autocast_enabled
from trainwright.emulate.npu.settings import is_jit_compile_false as is_jit_compile_false
from trainwright.emulate.npu.settings import npu_check_overflow as npu_check_overflow
from trainwright.emulate.npu.settings import reset_stream_limit as reset_stream_limit
from trainwright.emulate.npu.settings import set_aoe as set_aoe
from trainwright.emulate.npu.settings import set_autocast_dtype as set_autocast_dtype
from trainwright.emulate.npu.settings import set_autocast_enabled as set_autocast_enabled
from trainwright.emulate.npu.settings import set_compile_mode as set_compile_mode
from trainwright.emulate.npu.settings import set_deterministic_level as set_deterministic_level
from trainwright.emulate.npu.settings import set_device_limit as set_device_limit
from trainwright.emulate.npu.settings import set_dump as set_dump
from trainwright.emulate.npu.settings import set_mm_bmm_format_nd as set_mm_bmm_format_nd
from trainwright.emulate.npu.settings import set_op_timeout_ms as set_op_timeout_ms
from trainwright.emulate.npu.settings import set_option as set_option
from trainwright.emulate.npu.settings import set_stream_limit as set_stream_limit
from trainwright.emulate.npu.settings import set_sync_debug_mode as set_sync_debug_mode
from trainwright.emulate.npu.settings import use_compatible_impl as use_compatible_impl
from trainwright.emulate.npu.streams import Event as Event
from trainwright.emulate.npu.streams import ExternalEvent as ExternalEvent
from trainwright.emulate.npu.streams import ExternalStream as ExternalStream
from trainwright.emulate.npu.streams import Stream as Stream
from trainwright.emulate.npu.streams import StreamContext as StreamContext
from trainwright.emulate.npu.streams import SyncLaunchStream as SyncLaunchStream
from trainwright.emulate.npu.streams import current_stream as current_stream
from trainwright.emulate.npu.streams import default_stream as default_stream
from trainwright.emulate.npu.streams import set_stream as set_stream
from trainwright.emulate.npu.streams import stream as stream

#: Names of the real module that only a device can answer, with what it does.
_REFUSED = {
    "MemPool": "keeps a memory pool for graphs",
    "NPUPluggableAllocator": "takes its memory from a library of yours",
    "change_current_allocator": "takes its memory from a library of yours",
    "use_mem_pool": "takes memory from a pool inside a block",
    "caching_allocator_alloc": "gives raw device memory",
    "caching_allocator_delete": "takes raw device memory back",
    "check_uce_in_memory": "looks for memory errors",
    "current_blas_handle": "has no such handle either",
    "obfuscation_calculate": "computes on obfuscated data",
    "obfuscation_finalize": "computes on obfuscated data",
    "obfuscation_initialize": "computes on obfuscated data",
    "register_npu_graph_handler": "updates captured graphs",
    "restart_device": "restarts after a fault",
    "stop_device": "stops all kernels",
    "stress_detect": "tests its cores under load",
    "graph_task_group_begin": "records a part of a graph",
    "graph_task_group_end": "records a part of a graph",
    "graph_task_update_begin": "updates a part of a graph",
    "graph_task_update_end": "updates a part of a graph",
    "super_kernel_scope_begin": "joins kernels of a graph",
    "super_kernel_scope_end": "joins kernels of a graph",
}
_STORAGES = {
    "ByteStorage": torch.uint8,
    "CharStorage": torch.int8,
    "ShortStorage": torch.int16,
    "IntStorage": torch.int32,
    "LongStorage": torch.int64,
    "HalfStorage": torch.float16,
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "BFloat16Storage": torch.bfloat16,
    "BoolStorage": torch.bool,
}

for _name, _real in _REFUSED.items():
    globals()[_name] = refused(_name, _real)
for _name, _dtype in _STORAGES.items():
    globals()[_name] = storage_type(_name, _dtype)


def _is_in_bad_fork() -> bool:
    """Never: there is no device that a fork could break."""
    return False


def _lazy_init() -> None:
    """Nothing: the emulated devices need no start."""


def _lazy_call(function: Any, **_: Any) -> None:
    """Call at once what waits for a device's start."""
    function()


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index of a device; -1 of the CPU where that is allowed."""
    from trainwright.emulate.npu.devices import index_of

    if allow_cpu and not isinstance(device, int) and device is not None and torch.device(device).type == "cpu":
        return -1
    if device is None and not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return index_of(device)
