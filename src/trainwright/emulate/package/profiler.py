"""``torch_npu.profiler`` over torch's own profiler: what ran on the CPU, in the trace format of torch.

There are no kernels to see: an operator's time is the time that the CPU took to compute it. Each trace says so.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerAction, schedule

from trainwright.emulate.device import STATE

__all__ = ["AiCMetrics", "ExportType", "ProfilerAction", "ProfilerActivity", "ProfilerLevel", "profile", "schedule"]


class ProfilerActivity(enum.Enum):
    """What is recorded; the NPU's part is in the CPU's here."""

    CPU = "CPU"
    NPU = "NPU"


class ProfilerLevel(enum.Enum):
    """How much a real device would record."""

    Level_none = "Level_none"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class AiCMetrics(enum.Enum):
    """Counters of the cores; an emulated device has none."""

    AiCoreNone = "ACL_AICORE_NONE"
    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"
    MemoryL0 = "ACL_AICORE_L0B_AND_WIDTH"
    MemoryUB = "ACL_AICORE_MEMORY_UB"
    ResourceConflictRatio = "ACL_AICORE_RESOURCE_CONFLICT_RATIO"
    L2Cache = "ACL_AICORE_L2_CACHE"
    MemoryAccess = "ACL_AICORE_MEMORY_ACCESS"


class ExportType(enum.Enum):
    """Formats of a real device's profile."""

    Text = "text"
    Db = "db"


class _ExperimentalConfig:
    """Settings of a real device's profile; they are taken and change nothing."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings


class _KinetoProfile(torch.profiler.profile):
    """A profiler with the arguments of torch_npu."""

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        experimental_config: Any = None,
        **rest: Any,
    ) -> None:
        del activities, experimental_config  # only the CPU's activity can be recorded
        super().__init__(
            activities=[torch.profiler.ProfilerActivity.CPU],
            schedule=schedule,
            on_trace_ready=on_trace_ready,
            **rest,
        )

    def start_trace(self) -> None:
        """Begin to record, and note in the trace that the device is emulated."""
        super().start_trace()
        self.add_metadata("emulated_npu", f"{STATE.chip.name}: times are those of this CPU, not of an NPU")


profile = _KinetoProfile


def tensorboard_trace_handler(
    dir_name: str | None = None,
    worker_name: str | None = None,
    analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[[Any], None]:
    """What to do with a trace: write it to a folder (``ASCEND_WORK_PATH`` or the current one if none is given)."""
    import os

    del analyse_flag, async_mode  # there is no raw data of a device to analyse
    folder = Path(dir_name or os.environ.get("ASCEND_WORK_PATH") or ".")
    folder.mkdir(parents=True, exist_ok=True)
    return torch.profiler.tensorboard_trace_handler(str(folder), worker_name)
