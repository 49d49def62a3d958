"""An index is off by one: each element of the last dimension comes from its neighbour."""

from __future__ import annotations

from typing import Any

from trainwright.emulate.fault import Call, FaultKind, floating


def apply(call: Call) -> Any:
    """Shift the result by one element."""
    result = call.compute()
    for tensor in floating(result):
        if tensor.dim():
            tensor.copy_(tensor.clone().roll(int(call.parameters["shift"]), -1))
    return result


KIND = FaultKind(
    code="off-by-one",
    summary="shifts the result by elements along the last dimension",
    apply=apply,
    parameters={"shift": 1},
)
