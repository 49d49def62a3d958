"""A constant of the formula is wrong: results are off by a factor."""

from __future__ import annotations

from typing import Any

from trainwright.emulate.fault import Call, FaultKind, floating


def apply(call: Call) -> Any:
    """Multiply the result."""
    result = call.compute()
    for tensor in floating(result):
        tensor.mul_(call.parameters["factor"])
    return result


KIND = FaultKind(
    code="wrong-constant",
    summary="multiplies the result by a factor",
    apply=apply,
    parameters={"factor": 1.01},
)
