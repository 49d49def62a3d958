"""``torch.npu.amp``: autocast and GradScaler under their older names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from trainwright.emulate.device import STATE


class autocast(torch.amp.autocast_mode.autocast):  # noqa: N801 - the name that torch gives it
    """``torch.autocast("npu", ...)``."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler("npu", ...)``; with ``dynamic=False`` the scale stays as it is."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        if not dynamic:
            growth_factor, backoff_factor = 1.0 + 1e-12, 1.0 - 1e-12
        super().__init__("npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        self._dynamic = dynamic

    def update(self, new_scale: float | torch.Tensor | None = None) -> None:
        """Set the scale for the next step; a static one changes only when it is given."""
        if self._dynamic or new_scale is not None or not self._enabled:
            super().update(new_scale)
            return
        self._per_optimizer_states.clear()


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        eligible = value.is_floating_point() and value.device.type == "npu" and value.dtype is not torch.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, Mapping):
        return {_cast(key, dtype): _cast(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, dtype) for item in value)
    return value


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: torch.dtype | None = None) -> Any:
    """Decorator for the forward of an autograd function: autocast off inside where inputs are cast."""
    if fwd is None:
        return functools.partial(custom_fwd, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = torch.get_autocast_dtype("npu")
        enabled = torch.is_autocast_enabled("npu")
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return fwd(ctx, *args, **kwargs)
        with torch.autocast("npu", enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for the backward of an autograd function: autocast as it was in the forward."""

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.autocast("npu", enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated


def amp_definitely_not_available() -> bool:
    """False: autocast works on the emulated device."""
    return not STATE.count
