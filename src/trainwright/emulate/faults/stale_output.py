"""The kernel answers with what it wrote the time before: a missing synchronization between streams."""

from __future__ import annotations

from typing import Any

from trainwright.emulate.fault import Call, FaultKind, floating


def apply(call: Call) -> Any:
    """Put the result of the call before of the same shapes in place of this one's."""
    result = call.compute()
    tensors = floating(result)
    key = str([(tuple(tensor.shape), tensor.dtype) for tensor in tensors])
    before = call.memory.get(key)
    call.memory[key] = [tensor.clone() for tensor in tensors]
    if before is not None:
        for tensor, old in zip(tensors, before, strict=True):
            tensor.copy_(old)
    return result


KIND = FaultKind(
    code="stale-output", summary="answers with the result of the call before that had the same shapes", apply=apply
)
