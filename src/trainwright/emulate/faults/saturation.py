"""Values are clamped to the range of a narrower type on the way."""

from __future__ import annotations

from typing import Any

from trainwright.emulate.fault import Call, FaultKind, floating


def apply(call: Call) -> Any:
    """Clamp the result."""
    result = call.compute()
    limit = call.parameters["limit"]
    for tensor in floating(result):
        tensor.clamp_(-limit, limit)
    return result


KIND = FaultKind(
    code="saturation",
    summary="clamps the result to a range (65504 is that of float16)",
    apply=apply,
    parameters={"limit": 65504.0},
)
