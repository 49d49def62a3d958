"""The contract of a fault: one way in which a kernel of a device can be wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from trainwright.core.registry import Registry


@dataclass
class Call:
    """One call of a faulty operator.

    `args` and `kwargs` are CPU tensors over the memory of the device; `compute` runs the right kernel, over other
    arguments if given. `memory` is the fault's own and lasts as long as the process.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kernel: Callable[..., Any]
    parameters: Mapping[str, float]
    memory: dict[str, Any] = field(default_factory=dict)

    def compute(self, *args: Any) -> Any:
        """What the right kernel answers."""
        return self.kernel(*(args or self.args), **self.kwargs)


@dataclass(frozen=True, kw_only=True)
class FaultKind:
    """One kind of fault (module constant ``KIND``).

    `apply` answers in place of the kernel. `parameters` gives the name of each parameter and its default value.
    """

    code: str
    summary: str
    apply: Callable[[Call], Any]
    parameters: Mapping[str, float] = field(default_factory=dict)


KINDS: Registry[FaultKind] = Registry(kind="fault", package="trainwright.emulate.faults", constant="KIND")


def floating(result: Any) -> list[Tensor]:
    """The floating-point tensors of a result, which a fault changes in place."""
    items = result if isinstance(result, (list, tuple)) else (result,)
    return [item for item in items if isinstance(item, Tensor) and item.is_floating_point() and item.numel()]
