"""Inside a process of an emulated program: turn emulation on when torch is imported, and leave a record at the end.

Processes that never import torch (shells, launchers) pay nothing. Settings come in the variable TRAINWRIGHT_EMULATE as
JSON with the arguments of `trainwright.emulate.install`; records go to the folder that ``records`` in it names.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from trainwright.core.errors import TrainwrightError

VARIABLE = "TRAINWRIGHT_EMULATE"
SOURCE_VARIABLE = "TRAINWRIGHT_EMULATE_SOURCE"


def settings_text(settings: dict[str, Any]) -> str:
    """The value of the variable."""
    return json.dumps(settings)


def start() -> None:
    """Wait for torch."""
    if "torch" in sys.modules:
        _install()
    else:
        sys.meta_path.insert(0, _TorchFinder())


class _TorchFinder(importlib.abc.MetaPathFinder):
    """Finds torch where it is, once, and lets the emulator follow its import."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """The spec of torch with a loader that goes on after it."""
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Following(spec.loader)
        return spec


class _Following(importlib.abc.Loader):
    """The loader of torch, then `install`."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def create_module(self, spec: Any) -> ModuleType | None:
        """As torch's own."""
        module: ModuleType | None = self.inner.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Import torch, then turn emulation on."""
        self.inner.exec_module(module)
        _install()


def _install() -> None:
    from trainwright.emulate.installation import install
    from trainwright.emulate.records import record_at_exit

    settings = json.loads(os.environ[VARIABLE])
    records = settings.pop("records", None)
    try:
        install(**settings)
    except TrainwrightError as error:
        sys.stderr.write(f"trainwright emulate: {error}\n")
        sys.stderr.flush()
        os._exit(error.exit_code)  # an import that fails is caught by programs that can do without torch
    if records:
        record_at_exit(records)
