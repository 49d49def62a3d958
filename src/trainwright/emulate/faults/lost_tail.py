"""The last elements of the result are not written: a tail that does not fill a tile is forgotten."""

from __future__ import annotations

from typing import Any

from trainwright.emulate.fault import Call, FaultKind, floating


def apply(call: Call) -> Any:
    """Leave zeros in the last elements of the last dimension, where it is no multiple of the tile."""
    result = call.compute()
    tile = max(1, int(call.parameters["tile"]))
    for tensor in floating(result):
        rest = tensor.shape[-1] % tile if tensor.dim() else 0
        if rest:
            tensor[..., -rest:] = 0
    return result


KIND = FaultKind(
    code="lost-tail",
    summary="leaves zeros in the part of the last dimension that does not fill a tile",
    apply=apply,
    parameters={"tile": 16},
)
