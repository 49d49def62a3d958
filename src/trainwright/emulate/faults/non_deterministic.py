"""Equal inputs give results that differ in their last bits: atomic additions in an order that nobody fixed."""

from __future__ import annotations

from typing import Any

import torch

from trainwright.emulate.fault import Call, FaultKind, floating


def apply(call: Call) -> Any:
    """Add relative noise from a generator that no seed of the program reaches."""
    result = call.compute()
    if "generator" not in call.memory:
        call.memory["generator"] = torch.Generator()
        call.memory["generator"].seed()
    for tensor in floating(result):
        noise = torch.empty(tensor.shape).uniform_(-1.0, 1.0, generator=call.memory["generator"])
        tensor.add_((tensor * noise * call.parameters["relative"]).to(tensor.dtype))
    return result


KIND = FaultKind(
    code="non-deterministic",
    summary="adds relative noise that is another in each run",
    apply=apply,
    parameters={"relative": 1e-6},
)
