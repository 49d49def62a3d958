"""What the name of an option or a key says its value is, and what such a value is called on the NPU."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from trainwright.migrate.project import Project
from trainwright.migrate.python.sinks import BACKEND_NAMES, DEVICE_NAMES

#: Names that hold a backend in configuration files; the value ``nccl`` leaves no doubt.
_CONFIG_BACKENDS = BACKEND_NAMES | {"backend", "nccl_backend", "distributed_backend_name", "comm_backend"}
_CONFIG_DEVICES = DEVICE_NAMES | {"accelerator", "device_map", "eval_device", "train_device", "model_device"}
_DEVICE = re.compile(r"cuda(?::\d+)?")
_PAIR = "cuda:nccl"


@dataclass(frozen=True, kw_only=True)
class Role:
    """What a name holds. `declared`: code of the project says so, not only the name."""

    kind: Literal["device", "backend"]
    declared: bool


def npu_value(value: str) -> tuple[Literal["device", "backend"], str] | None:
    """Kind and NPU spelling of a device or backend value; None when it is neither."""
    if _DEVICE.fullmatch(value):
        return "device", value.replace("cuda", "npu")
    if value == "nccl":
        return "backend", "hccl"
    parts = value.split(",")
    if _PAIR in parts:
        return "backend", ",".join("npu:hccl" if part == _PAIR else part for part in parts)
    return None


def role_of(name: str, project: Project) -> Role | None:
    """The role of a name such as ``device``, ``--dist-backend`` or ``dist_backend``.

    A declared option is judged as the code that declares it is, so that both are changed or neither is.
    """
    argument = project.arguments.get(name)
    dest = argument.dest if argument else name.lstrip("-").replace("-", "_")
    if dest in project.backend_names:
        return Role(kind="backend", declared=True)
    if dest in project.device_names:
        return Role(kind="device", declared=True)
    plain = dest.lower().strip("_")
    if plain in _CONFIG_BACKENDS:
        return Role(kind="backend", declared=argument is not None and plain in BACKEND_NAMES)
    if plain in _CONFIG_DEVICES:
        return Role(kind="device", declared=argument is not None and plain in DEVICE_NAMES)
    return None
