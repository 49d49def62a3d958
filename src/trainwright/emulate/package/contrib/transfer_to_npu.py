"""``from torch_npu.contrib import transfer_to_npu``: what a program says about CUDA is done on the NPU from then on.

As the real one: names of ``torch.cuda`` answer with those of ``torch.npu``; ``"cuda"`` in a device argument of the
functions below becomes ``"npu"``, ``"nccl"`` becomes ``"hccl"``; ``.cuda()`` and ``.is_cuda`` are those of the NPU;
``torch.jit.script`` is off. Names that a program bound before stay as they were.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import torch
import torch.distributed

from trainwright.emulate import npu
from trainwright.emulate.npu import amp
from trainwright.emulate.package import profiler

_FUNCTIONS = (
    "logspace",
    "randint",
    "hann_window",
    "rand",
    "full_like",
    "ones_like",
    "rand_like",
    "randperm",
    "arange",
    "frombuffer",
    "normal",
    "empty_strided",
    "empty_like",
    "scalar_tensor",
    "tril_indices",
    "bartlett_window",
    "ones",
    "randn",
    "kaiser_window",
    "tensor",
    "triu_indices",
    "as_tensor",
    "zeros",
    "randint_like",
    "full",
    "eye",
    "empty",
    "blackman_window",
    "zeros_like",
    "range",
    "randn_like",
    "from_file",
    "linspace",
    "hamming_window",
    "load",
    "set_default_device",
    "get_device_module",
    "device",
)
_TENSOR_METHODS = (
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_tensor",
    "new_zeros",
    "to",
    "pin_memory",
)
_DEVICE_ARGUMENTS = ("device", "device_type", "map_location", "device_id")


def _moved(value: Any, *, numbers: bool = False) -> Any:
    """A device argument with npu for cuda; `numbers`: an index is one of the NPU."""
    if isinstance(value, str):
        return value.replace("cuda", "npu")
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("npu") if value.index is None else torch.device("npu", value.index)
    if isinstance(value, dict):
        return {_moved(key): _moved(item) for key, item in value.items()}
    if numbers and isinstance(value, int) and not isinstance(value, bool):
        return f"npu:{value}"
    return value


def _device_arguments(function: Callable[..., Any], *, numbers: bool = False) -> Callable[..., Any]:
    """A function whose device arguments may say cuda."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for name in _DEVICE_ARGUMENTS:
            if kwargs.get(name) is not None:
                kwargs[name] = _moved(kwargs[name], numbers=True)
        return function(*(_moved(value, numbers=numbers) for value in args), **kwargs)

    return wrapper


def _backend(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose backend may say nccl."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if isinstance(kwargs.get("backend"), str):
            kwargs["backend"] = kwargs["backend"].replace("nccl", "hccl").replace("cuda", "npu")
        changed = (v.replace("nccl", "hccl").replace("cuda", "npu") if isinstance(v, str) else v for v in args)
        return function(*changed, **kwargs)

    return wrapper


def _replace(owner: Any, names: Iterable[str], wrap: Callable[..., Any], **settings: Any) -> None:
    for name in names:
        function = getattr(owner, name, None)
        if function is not None and not isinstance(function, type):
            setattr(owner, name, wrap(function, **settings))


def _public(module: ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def _install() -> None:
    warnings.warn("torch.cuda.*, device arguments and nccl are replaced by the NPU's", ImportWarning, stacklevel=3)
    for name, value in _public(npu).items():
        if not isinstance(value, ModuleType):
            setattr(torch.cuda, name, value)
    for name in ("autocast", "GradScaler"):
        setattr(torch.cuda.amp, name, getattr(amp, name))
    torch.cuda.DoubleTensor = torch.npu.FloatTensor if hasattr(torch.npu, "FloatTensor") else torch.FloatTensor
    _replace(torch, _FUNCTIONS, _device_arguments)
    _replace(torch.Tensor, _TENSOR_METHODS, _device_arguments, numbers=True)
    _replace(torch.nn.Module, ("to", "to_empty"), _device_arguments, numbers=True)
    torch.Tensor.cuda = torch.Tensor.npu
    torch.nn.Module.cuda = torch.nn.Module.npu
    torch.Tensor.is_cuda = torch.Tensor.is_npu
    for owner in (torch.amp.autocast_mode.autocast, torch.amp.GradScaler, torch.nn.parallel.DistributedDataParallel):
        owner.__init__ = _device_arguments(owner.__init__)
    distributed = torch.distributed
    for module in (distributed, distributed.distributed_c10d):
        _replace(module, ("init_process_group", "new_group"), _backend)
        module.is_nccl_available = lambda: True
    torch.profiler.profile = profiler.profile
    torch.profiler.tensorboard_trace_handler = profiler.tensorboard_trace_handler
    torch.jit.script = lambda obj, *_, **__: obj


_install()
