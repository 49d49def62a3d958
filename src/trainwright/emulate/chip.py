"""The contract of a chip profile: what one generation of the device has and lacks."""

from __future__ import annotations

from dataclasses import dataclass

from trainwright.core.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Chip:
    """One generation (module constant ``CHIP``).

    `name` is what ``torch.npu.get_device_name`` answers, `soc_version` the number torch_npu keeps for it.
    `inf_nan` says that overflow gives Inf and NaN; a chip without it saturates. `bf16`: whether the chip computes it.
    `facts` is the letter of the chip in the support tables, empty where they do not speak of it.
    """

    code: str
    summary: str
    name: str
    soc_version: int
    memory_gib: int
    cube_cores: int
    vector_cores: int
    inf_nan: bool
    bf16: bool
    facts: str


CHIPS: Registry[Chip] = Registry(kind="chip", package="trainwright.emulate.chips", constant="CHIP")
