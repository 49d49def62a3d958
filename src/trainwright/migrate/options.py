"""What the user asked of a migration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: ``npu``: the torch_npu idiom. ``agnostic``: `torch.accelerator`, so that CUDA still works. ``shim``: only the import
#: of ``transfer_to_npu`` in entry points.
Style = Literal["npu", "agnostic", "shim"]
#: Chips as the support tables name them: Atlas A2, Atlas A3, Ascend 950DT.
Soc = Literal["A2", "A3", "950DT"]
TORCH_VERSIONS = ("2.6", "2.7", "2.8", "2.9", "2.10", "2.13")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The settings that rules see; equal options and equal files give equal remarks."""

    style: Style = "npu"
    torch: str = "2.8"
    soc: Soc = "A2"

    @property
    def torch_version(self) -> tuple[int, int]:
        """``(2, 8)`` for ``"2.8"``."""
        major, minor = self.torch.split(".")[:2]
        return int(major), int(minor)
