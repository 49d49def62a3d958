"""What kernels look at besides their arguments: faults and overflow, set by their own modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: By operator (``mm``): what to run in place of the CPU kernel. It gets the overload, the index of the device and the
#: arguments, CPU tensors in place of those of the device.
REPLACEMENTS: dict[str, Callable[..., Any]] = {}
#: What to do to the results of every kernel, still CPU tensors.
AFTER: list[Callable[[str, Any], None]] = []
