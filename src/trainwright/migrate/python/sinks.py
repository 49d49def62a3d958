"""What takes a device, a backend or a tensor type: arguments of torch, methods, names that mean one."""

from __future__ import annotations

from typing import Literal

RoleKind = Literal["device", "backend", "tensor_type"]

#: Parameter, attribute and key names that hold a device in training code.
DEVICE_NAMES = frozenset(
    {"device", "devices", "device_type", "map_location", "pin_memory_device", "device_str", "torch_device", "dev"}
    | {"device_name", "default_device", "target_device", "execution_device", "main_device", "compute_device"}
    | {"get_device", "select_device", "auto_device", "device_id_str", "offload_device", "weight_device", "init_device"}
)
BACKEND_NAMES = frozenset(
    {"dist_backend", "distributed_backend", "ddp_backend", "process_group_backend", "init_backend", "pg_backend"}
)
#: Parameters with these names take a device or a backend whoever the callee is.
_PARAMETERS: dict[str, RoleKind] = {
    "device": "device",
    "device_type": "device",
    "map_location": "device",
    "pin_memory_device": "device",
    "dist_backend": "backend",
    "distributed_backend": "backend",
    "ddp_backend": "backend",
    "process_group_backend": "backend",
}
#: Callable -> {position or keyword: role}.
_ARGUMENTS: dict[str, dict[int | str, RoleKind]] = {
    "torch.device": {0: "device", "type": "device"},
    "torch.set_default_device": {0: "device", "device": "device"},
    "torch.autocast": {0: "device", "device_type": "device"},
    "torch.amp.autocast": {0: "device", "device_type": "device"},
    "torch.amp.autocast_mode.autocast": {0: "device", "device_type": "device"},
    "torch.amp.GradScaler": {0: "device", "device": "device"},
    "torch.amp.grad_scaler.GradScaler": {0: "device", "device": "device"},
    "torch.amp.custom_fwd": {"device_type": "device"},
    "torch.amp.custom_bwd": {"device_type": "device"},
    "torch.Generator": {0: "device", "device": "device"},
    "torch.load": {1: "device", "map_location": "device"},
    "torch.get_device_module": {0: "device", "device": "device"},
    "torch.get_autocast_dtype": {0: "device"},
    "torch.set_autocast_dtype": {0: "device"},
    "torch.set_autocast_enabled": {0: "device"},
    "torch.is_autocast_enabled": {0: "device"},
    "torch.set_default_tensor_type": {0: "tensor_type"},
    "torch.distributed.init_process_group": {0: "backend", "backend": "backend"},
    "torch.distributed.new_group": {2: "backend", "backend": "backend"},
    "torch.distributed.split_group": {"backend": "backend"},
    "torch.distributed.new_subgroups": {"backend": "backend"},
    "torch.distributed.is_backend_available": {0: "backend"},
    "torch.distributed.Backend": {0: "backend"},
    "torch.distributed.init_device_mesh": {0: "device", "device_type": "device"},
    "torch.distributed.device_mesh.init_device_mesh": {0: "device", "device_type": "device"},
    "torch.distributed.device_mesh.DeviceMesh": {0: "device", "device_type": "device"},
    "torch.distributed.DeviceMesh": {0: "device", "device_type": "device"},
    "deepspeed.init_distributed": {0: "backend", "dist_backend": "backend"},
}
_DISTRIBUTED = {"torch.distributed.distributed_c10d.": "torch.distributed."}
_METHODS: dict[str, dict[int | str, RoleKind]] = {
    "to": {0: "device", "device": "device"},
    "to_empty": {0: "device", "device": "device"},
    "type": {0: "tensor_type", "dtype": "tensor_type"},
    "is_autocast_enabled": {0: "device"},
    "init_process_group": {0: "backend", "backend": "backend"},
    "pin_memory": {0: "device", "device": "device"},
}


def role_of_argument(name: str, place: int | str) -> RoleKind | None:
    """The role of an argument of a callable with a dotted name."""
    for long, short in _DISTRIBUTED.items():
        if name.startswith(long):
            name = short + name.removeprefix(long)
    if name.startswith(("torch.cuda.", "torch.npu.")):
        return "device"  # the only strings their functions take
    known = _ARGUMENTS.get(name)
    if known and place in known:
        return known[place]
    if name.startswith("torch.") and isinstance(place, str):
        return _PARAMETERS.get(place)
    return None


def role_of_method(method: str, place: int | str) -> RoleKind | None:
    """The role of an argument of a method of a tensor, a module or the distributed package."""
    return _METHODS.get(method, {}).get(place)


def role_of_parameter(name: str) -> RoleKind | None:
    """The role that the name of a keyword gives away whatever is called."""
    return _PARAMETERS.get(name)
