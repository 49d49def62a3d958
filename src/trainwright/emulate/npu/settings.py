"""``torch.npu`` settings of the device, its compiler and its dumps: kept and answered; nothing depends on them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from trainwright.emulate.device import STATE
from trainwright.emulate.npu.devices import Device, index_of

_OPTIONS: dict[str, str] = {"jitCompile": "disable", "MM_BMM_ND_ENABLE": "enable"}
_CHOICES = {
    "ACL_PRECISION_MODE": ("allow_fp32_to_fp16", "must_keep_origin_dtype"),
    "ACL_OP_SELECT_IMPL_MODE": ("high_performance", "high_precision"),
    "ACL_OP_DEBUG_LEVEL": ("0", "1", "2", "3", "4"),
    "ACL_OP_COMPILER_CACHE_MODE": ("disable", "enable", "force"),
}


def set_option(option: Mapping[str, Any]) -> None:
    """Set options of the operator compiler.

    Raises:
        TypeError: it is no mapping.
        ValueError: an option has no such value.
    """
    if not isinstance(option, Mapping):
        raise TypeError("npu option must be a dict.")
    for name, value in option.items():
        if name in _CHOICES and str(value) not in _CHOICES[name]:
            raise ValueError(f"value of {name} should be in {list(_CHOICES[name])} but got {value}")
    _OPTIONS.update({name: str(value) for name, value in option.items()})


def set_compile_mode(jit_compile: bool = False) -> None:
    """Choose between operators compiled at run time and those that come compiled."""
    _OPTIONS["jitCompile"] = "enable" if jit_compile else "disable"


def is_jit_compile_false() -> bool:
    """Whether operators come compiled."""
    return _OPTIONS["jitCompile"] == "disable"


def set_mm_bmm_format_nd(is_nd: bool = True) -> None:
    """Choose the memory format of matrix products."""
    _OPTIONS["MM_BMM_ND_ENABLE"] = "enable" if is_nd else "disable"


def get_mm_bmm_format_nd() -> bool:
    """Whether matrix products use plain memory format."""
    return _OPTIONS["MM_BMM_ND_ENABLE"] == "enable"


def set_aoe(dump_path: str) -> None:
    """Where tuning of operators would put its results."""
    Path(dump_path).mkdir(parents=True, exist_ok=True)


def set_dump(cfg_file: str) -> None:
    """Settings of the device's dumps.

    Raises:
        AssertionError: there is no such file.
    """
    if not Path(cfg_file).exists():
        raise AssertionError(f"cfg_file {cfg_file} path does not exists.")


def init_dump() -> None:
    """Nothing: the emulated device dumps nothing."""


def finalize_dump() -> None:
    """Nothing: the emulated device dumps nothing."""


def set_deterministic_level(level: int) -> None:
    """0: off, 1 and 2: deterministic kernels.

    Raises:
        ValueError: another level.
    """
    if level not in (0, 1, 2):
        raise ValueError(f"deterministic level must be 0, 1 or 2, got {level}")
    torch.use_deterministic_algorithms(level > 0)


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """How to tell of hidden synchronisation: 0 or "default", 1 or "warn", 2 or "error"; it never happens here.

    Raises:
        RuntimeError: another mode.
    """
    modes = {"default": 0, "warn": 1, "error": 2}
    level = modes.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, got {debug_mode}")
    _OPTIONS["sync_debug_mode"] = str(level)


def get_sync_debug_mode() -> int:
    """The mode set last."""
    return int(_OPTIONS.get("sync_debug_mode", "0"))


def set_device_limit(device: Device, cube_num: int = -1, vector_num: int = -1) -> None:
    """Limit the cores that a device may use."""
    STATE.core_limits[index_of(device)] = (cube_num, vector_num)


def get_device_limit(device: Device) -> dict[str, int]:
    """The cores that a device may use."""
    cube, vector = STATE.core_limits.get(index_of(device), (-1, -1))
    chip = STATE.chip
    return {
        "cube_core_num": chip.cube_cores if cube < 0 else cube,
        "vector_core_num": chip.vector_cores if vector < 0 else vector,
    }


def set_stream_limit(stream: Any, cube_num: int = -1, vector_num: int = -1) -> None:
    """Limit the cores that a stream may use: of its device, as streams share one here."""
    set_device_limit(stream.device_index, cube_num, vector_num)


def reset_stream_limit(stream: Any) -> None:
    """Undo `set_stream_limit`."""
    STATE.core_limits.pop(stream.device_index, None)


def get_stream_limit(stream: Any) -> dict[str, int]:
    """The cores that a stream may use."""
    return get_device_limit(stream.device_index)


def set_op_timeout_ms(timeout: int) -> None:
    """Nothing: kernels here never hang on the device."""


def use_compatible_impl(is_enable: bool) -> None:
    """Choose kernels that follow the CPU more closely; here all do."""
    _OPTIONS["compatible_impl"] = str(bool(is_enable))


def are_compatible_impl_enabled() -> bool:
    """What `use_compatible_impl` set."""
    return _OPTIONS.get("compatible_impl") == "True"


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Types that autocast may compute in."""
    return [torch.float16, torch.bfloat16, torch.float32] if STATE.chip.bf16 else [torch.float16, torch.float32]


def is_autocast_enabled() -> bool:
    """Whether autocast is on for the device."""
    return torch.is_autocast_enabled("npu")


def set_autocast_enabled(enable: bool) -> None:
    """Switch autocast on or off for the device."""
    torch.set_autocast_enabled("npu", enable)


def get_autocast_dtype() -> torch.dtype:
    """The type that autocast computes in."""
    return torch.get_autocast_dtype("npu")


def set_autocast_dtype(dtype: torch.dtype) -> None:
    """Set the type that autocast computes in."""
    torch.set_autocast_dtype("npu", dtype)


def get_npu_overflow_flag() -> bool:
    """Whether a value saturated since the flag was cleared.

    Raises:
        RuntimeError: the chip does not saturate.
    """
    if not STATE.saturates:
        raise RuntimeError("Unsupported api when soc_version >= Ascend910B1, please use npu_check_overflow")
    return STATE.overflowed


def clear_npu_overflow_flag() -> None:
    """Clear the flag; chips with Inf and NaN have none."""
    if not STATE.saturates:
        warnings.warn(
            "When soc_version >= Ascend910B1, clear_npu_overflow_flag is useless, please remove it.", stacklevel=2
        )
        return
    STATE.overflowed = False


def npu_check_overflow(grad: Any) -> bool:
    """Whether a gradient overflowed: it is not finite, or on a chip that saturates, the flag is set.

    Raises:
        RuntimeError: it is neither a float nor a tensor.
    """
    if STATE.saturates:
        found = STATE.overflowed
        STATE.overflowed = False
        return found
    if not isinstance(grad, (float, torch.Tensor)):
        raise RuntimeError("Unsupported type.")
    total = grad if isinstance(grad, float) else float(grad.float().sum())
    return not math.isfinite(total)
