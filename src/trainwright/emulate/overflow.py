"""Overflow on chips that saturate: a computed Inf becomes the largest number, a computed NaN becomes 0, a flag is set.

Source: CANN documentation, `aclrtFloatOverflowMode` ("saturation mode converts the calculation result of Inf to a
maximum value and the calculation result of NaN to 0"; the Atlas training products know only this mode). Operators that
only move or fill memory compute nothing and leave it as it is.

Gradient scalers look for Inf in gradients. There is none here, so the check reads the flag, as torch_npu's kernel does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trainwright.emulate.device import STATE
from trainwright.emulate.plain import redispatched
from trainwright.emulate.watch import AFTER, REPLACEMENTS

_MOVES = (
    "fill_ fill zero_ full full_like masked_fill_ masked_fill masked_scatter_ masked_scatter where cat stack "
    "clone contiguous index index_select index_copy index_copy_ index_put index_put_ _index_put_impl_ gather "
    "scatter scatter_ take roll flip repeat constant_pad_nd empty empty_strided empty_like zeros zeros_like "
    "ones ones_like scalar_tensor lift_fresh_copy unfold_copy isnan isinf isfinite tril triu tril_ triu_ sort "
    "topk"
)
_MOVING = frozenset(_MOVES.split())


def install_overflow() -> None:
    """Saturate from now on, on a chip that does; nothing to do on the others."""
    AFTER[:] = [saturate] if STATE.saturates else []
    if STATE.saturates:
        REPLACEMENTS["_amp_foreach_non_finite_check_and_unscale_"] = _unscale
        REPLACEMENTS["_amp_update_scale_"] = _update_scale


def saturate(name: str, result: Any) -> None:
    """Clamp the floating-point tensors of a result in place, and note that something overflowed."""
    if name in _MOVING:
        return
    for tensor in result if isinstance(result, (list, tuple)) else (result,):
        if isinstance(tensor, Tensor) and tensor.is_floating_point() and tensor.numel():
            _clamp(tensor)


def _clamp(tensor: Tensor) -> None:
    if torch.isfinite(tensor.sum(dtype=torch.float64)):  # one pass instead of three where all is well
        return
    limits = torch.finfo(tensor.dtype)
    clamped = torch.nan_to_num(tensor, nan=0.0, posinf=limits.max, neginf=limits.min)
    if not torch.equal(clamped, tensor):
        tensor.copy_(clamped)
        STATE.overflowed = True


def _unscale(op: Any, index: int, grads: list[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Unscale the gradients; they are not finite if anything saturated since the scale was last updated."""
    redispatched(op, grads, found_inf, inv_scale)
    if STATE.overflowed:
        found_inf.fill_(1.0)


def _update_scale(op: Any, index: int, *args: Any) -> Any:
    """Update the scale, and begin the next step without a flag."""
    STATE.overflowed = False
    return redispatched(op, *args)
