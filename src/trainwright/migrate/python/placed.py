"""Where a tensor is made: on the device, or for sure not there."""

from __future__ import annotations

import ast

from trainwright.migrate.python.module import PythonFile

_MOVES = frozenset({"cuda", "npu", "to"})
#: Functions that make a tensor out of nothing; without `device` it is made on the host.
_FACTORIES = frozenset(
    {"arange", "as_tensor", "empty", "empty_strided", "eye", "from_numpy", "full", "linspace", "logspace", "ones"}
    | {"rand", "randint", "randn", "randperm", "scalar_tensor", "tensor", "zeros"}
)


def is_elsewhere(device: ast.expr | None, file: PythonFile) -> bool:
    """Whether an expression is known to name the CPU or the device ``meta``, which holds no data."""
    if isinstance(device, ast.Call) and device.args and file.named(device.func) == "torch.device":
        device = device.args[0]
    value = file.constant(device)
    return isinstance(value, str) and value.partition(":")[0] in ("cpu", "meta")


def device_of(call: ast.Call) -> ast.expr | None:
    """The argument `device` of a call."""
    return next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)


def stays_on_host(name: str, call: ast.Call, file: PythonFile) -> bool:
    """Whether what a function of torch makes is known to be on the host: by its device, or for want of one."""
    device = device_of(call)
    if device is not None:
        return is_elsewhere(device, file)
    if name.removeprefix("torch.") not in _FACTORIES or "set_default_device" in file.source.text:
        return False
    above = file.parent(call)
    moved = isinstance(above, ast.Attribute) and above.attr in _MOVES
    given = any(keyword.arg is None for keyword in call.keywords)
    return not moved and not given
