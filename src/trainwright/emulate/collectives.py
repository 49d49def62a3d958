"""The backend ``hccl`` of torch.distributed: collectives of emulated devices, carried by gloo.

Every collective of torch, whether Python or C++ asks for it, is an operator of the namespace ``c10d``. Their kernels
for the emulated device are here: each runs the same operator over CPU tensors of the same memory, in a shadow group
that nobody else sees. The group that the program has knows no CPU tensors, as on a real machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from trainwright.emulate.relabel import lasting_cpu

_SHADOWS: dict[str, Any] = {}
_LIBRARIES: list[Any] = []


def install_collectives() -> None:
    """Register the backend and the kernels; nothing to do for a torch without distributed."""
    import torch.distributed as dist

    if not dist.is_available():
        return
    dist.Backend.register_backend("hccl", _make_backend, extended_api=True, devices=["npu"])
    library = torch.library.Library("c10d", "IMPL")
    _LIBRARIES.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels are replaced is what is wanted
        for schema in torch._C._jit_get_all_schemas():
            space, _, name = schema.name.partition("::")
            if space == "c10d" and any(str(a.type).endswith("ProcessGroup") for a in schema.arguments):
                library.impl(name, _kernel(name), "PrivateUse1", allow_override=True)
        library.impl("barrier", _barrier_kernel(), "CPU", allow_override=True)


def _make_backend(options: Any, _: Any) -> Any:
    """The backend object of one group; its shadow keeps the group's name."""
    import torch.distributed as dist

    gloo = dist.ProcessGroupGloo(options.store, options.group_rank, options.group_size, options.timeout)
    shadow = dist.ProcessGroup(options.store, options.group_rank, options.group_size)
    shadow._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
    shadow._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, gloo)
    gloo._set_sequence_number_for_group()
    shadow._set_group_name(f"{options.group_id} (carrier)")
    _SHADOWS[options.group_id] = shadow
    return gloo


def _shadow_of(group: Any) -> Any:
    from torch.distributed import ProcessGroup

    return _SHADOWS.get(ProcessGroup.unbox(group).group_name)


def _kernel(name: str) -> Callable[..., Any]:
    operator = getattr(torch.ops.c10d, name).default

    def kernel(*args: Any, **kwargs: Any) -> Any:
        at = next(i for i, value in enumerate(args) if isinstance(value, torch.ScriptObject))
        shadow = _shadow_of(args[at])
        if shadow is None:
            raise RuntimeError(f"the group of c10d::{name} has no backend for device type npu; make it with hccl")
        carried = [_carried(value, name) for value in args]
        carried[at] = shadow.boxed()
        return _answer(operator(*carried, **kwargs), args)

    return kernel


def _carried(value: Any, name: str) -> Any:
    if isinstance(value, Tensor):
        if value.get_device() < 0:
            raise RuntimeError(
                f"No backend type associated with device type {value.device.type}: c10d::{name} of an hccl group got a "
                "tensor that is not on an NPU. Move it there, or make the group with cpu:gloo,npu:hccl"
            )
        return lasting_cpu(value)
    if isinstance(value, (list, tuple)):
        return [_carried(item, name) for item in value]
    return value


def _answer(result: Any, args: tuple[Any, ...]) -> Any:
    """The operator's results, with the tensors of the program and work that ends with them."""
    if isinstance(result, tuple):
        return args[0], _work(result[1], args[0])
    return _work(result, args[0]) if isinstance(result, torch.ScriptObject) else result


def _work(carrier: torch.ScriptObject, tensors: Any) -> torch.ScriptObject:
    """Work whose future holds the tensors of the program: DDP reads its gradients there."""
    import torch._C._distributed_c10d as c10d

    work = c10d.Work.unbox(carrier)
    try:
        future = work.get_future()
    except RuntimeError:  # sends and receives have none
        return carrier
    held = [tensors] if isinstance(tensors, Tensor) else list(tensors)

    def own(done: Any) -> list[Tensor]:
        done.value()  # raises what the carrier raised
        return held

    made: torch.ScriptObject = c10d._create_work_from_future(future.then(own)).boxed()
    return made


def _barrier_kernel() -> Callable[..., Any]:
    """A barrier brings a CPU tensor of its own; in an hccl group it belongs to the shadow."""
    original = torch.library.get_kernel("c10d::barrier", "CPU")
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

    def barrier(tensor: Tensor, group: Any, *args: Any, **kwargs: Any) -> Any:
        shadow = _shadow_of(group)
        return original.call_boxed(keys, tensor, group if shadow is None else shadow.boxed(), *args, **kwargs)

    return barrier
