"""What answers as ``torch_npu`` under emulation. It cannot be imported under that name unless emulation is on."""

from __future__ import annotations

from typing import Any

import torch

from trainwright.emulate import npu as npu
from trainwright.emulate.package import optim as optim
from trainwright.emulate.package import profiler as profiler
from trainwright.emulate.package.version import __version__ as __version__


def __getattr__(name: str) -> Any:
    """Fused operators; one that is not emulated says so."""
    if name.startswith("__") or not (name.startswith(("npu_", "_npu_", "fast_", "get_npu", "one_")) or "npu" in name):
        raise AttributeError(f"module 'torch_npu' has no attribute {name!r}")
    if hasattr(torch.ops.npu, name):
        return getattr(torch.ops.npu, name)
    raise AttributeError(
        f"torch_npu.{name} is not emulated. A real NPU may have it; see `trainwright migrate api torch_npu.{name}`"
    )
