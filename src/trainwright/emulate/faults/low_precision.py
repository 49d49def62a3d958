"""The kernel accumulates in a lower precision: inputs lose their low bits before the product is summed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trainwright.emulate.fault import Call, FaultKind


def _rounded(value: Any, bits: int) -> Any:
    """A copy of a tensor whose mantissa keeps `bits` bits, rounded to nearest."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return value
    mantissa, exponent = torch.frexp(value.double())
    return torch.ldexp((mantissa * 2.0**bits).round() / 2.0**bits, exponent).to(value.dtype)


def apply(call: Call) -> Any:
    """Compute over rounded inputs."""
    bits = int(call.parameters["mantissa_bits"])
    return call.compute(*(_rounded(value, bits) for value in call.args))


KIND = FaultKind(
    code="low-precision",
    summary="accumulates in a lower precision; mantissa_bits says how many bits are kept (8 is bfloat16)",
    apply=apply,
    parameters={"mantissa_bits": 8},
)
