"""Make ``import torch_npu`` give the emulator's package, in this process only.

A finder maps the names of torch_npu to modules here, and answers as its installed distribution, because libraries look
for both. Nothing on disk is called torch_npu: without the finder it cannot be imported.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from trainwright.core.errors import InputError

_NPU = "trainwright.emulate.npu"
_PACKAGE = "trainwright.emulate.package"


def refuse_a_real_one() -> None:
    """Say so where a real torch_npu is installed.

    Raises:
        InputError: it is.
    """
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    if importlib.util.find_spec("torch_npu") is not None:
        raise InputError(
            "a real torch_npu is installed in this Python environment, and both cannot be the device npu",
            todo="run the program without emulation, or use an environment without torch_npu",
        )


def real_name(name: str) -> str | None:
    """The module here that answers as `name`, if it is one of torch_npu or ``torch.npu``."""
    for prefix, module in (("torch_npu.npu", _NPU), ("torch.npu", _NPU), ("torch_npu", _PACKAGE)):
        if name == prefix or name.startswith(f"{prefix}."):
            return module + name[len(prefix) :]
    return None


class Finder(importlib.metadata.DistributionFinder, importlib.abc.Loader):
    """Finds and loads torch_npu."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """The spec of a module of torch_npu that is emulated."""
        real = real_name(name)
        if real is None or importlib.util.find_spec(real) is None:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=f"emulated by {real}", is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        """The module that answers."""
        name = real_name(spec.name)
        assert name is not None
        return importlib.import_module(name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it is imported."""

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        """The distribution of torch_npu."""
        name = getattr(context, "name", None)
        if name is None or name.replace("-", "_").lower() == "torch_npu":
            yield _Distribution()


class _Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata` tells of torch_npu."""

    def read_text(self, filename: str) -> str | None:
        """Its metadata, and no other file."""
        from trainwright.emulate.package.version import __version__

        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: torch_npu\nVersion: {__version__}\nSummary: emulated by Trainwright\n"

    def locate_file(self, path: Any) -> Any:
        """Nowhere."""
        return path


def install_finder() -> None:
    """Let torch_npu be found."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
