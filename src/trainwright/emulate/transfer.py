"""Operators that move data between the CPU and emulated devices, or ask where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from trainwright.emulate.device import STATE
from trainwright.emulate.pinned import is_pinned
from trainwright.emulate.plain import redispatched, to_npu
from trainwright.emulate.relabel import Loan
from trainwright.emulate.watch import AFTER


class _Transfer(Loan):
    """Both ends of a copy as CPU tensors."""

    __slots__ = ()

    def end(self, tensor: Tensor) -> Tensor:
        """One end, wherever it is."""
        return self.cpu(tensor) if tensor.get_device() >= 0 else tensor


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy between any two of CPU and devices."""
    with _Transfer() as transfer:
        target = transfer.end(self)
        redispatched(torch.ops.aten.copy_.default, target, transfer.end(src))
        if self.dtype is not src.dtype and self.get_device() >= 0:
            for after in AFTER:
                after("copy_", target)
    return self


def to_copy(self: Tensor, **kwargs: Any) -> Tensor:
    """``.to`` of a tensor on a device, to itself, another one or the CPU; always a copy."""
    target = kwargs.pop("device", None) or self.device
    kwargs.update(device=torch.device("cpu"), non_blocking=False, pin_memory=None)
    with _Transfer() as transfer:
        copied: Tensor = redispatched(torch.ops.aten._to_copy.default, transfer.end(self), **kwargs)
    if copied.dtype is not self.dtype and target.type == "npu":
        for after in AFTER:
            after("_to_copy", copied)
    if target.type == "npu":
        index = STATE.current if target.index is None else target.index
        STATE.check(index)
        return to_npu(copied, index)
    return copied if target.type == "cpu" else copied.to(target)


def copy_from(self: Tensor, dst: Tensor, non_blocking: bool = False) -> Tensor:
    """What torch calls where one end is a CPU tensor."""
    copy_(dst, self)
    return dst


def copy_from_and_resize(self: Tensor, dst: Tensor) -> Tensor:
    """As `copy_from`, and the destination takes the shape."""
    copy_(dst.resize_(self.shape), self)
    return dst


def record_stream(self: Tensor, stream: Any) -> None:
    """Nothing: streams of the emulated device are synchronous."""


def compatible_shallow_copy(self: Tensor, other: Tensor) -> bool:
    """Yes, or ``module.npu()`` makes new parameters and unties shared weights without a word."""
    return True


#: Operator, key and kernel.
KERNELS: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("copy_", "PrivateUse1", copy_),
    ("_to_copy", "PrivateUse1", to_copy),
    ("_copy_from", "PrivateUse1", copy_from),
    ("_copy_from", "CPU", copy_from),
    ("_copy_from_and_resize", "PrivateUse1", copy_from_and_resize),
    ("_copy_from_and_resize", "CPU", copy_from_and_resize),
    ("is_pinned", "CPU", is_pinned),
    ("is_pinned", "PrivateUse1", is_pinned),
    ("record_stream", "PrivateUse1", record_stream),
    ("_has_compatible_shallow_copy_type", "PrivateUse1", compatible_shallow_copy),
)
