"""The contract of a leaf with fused operators: what torch_npu computes in one kernel, written out in plain torch.

A leaf defines ``FAMILY``. Each operator is registered as ``torch.ops.npu.NAME`` with the schema that torch_npu
declares, and answers as ``torch_npu.NAME``. It is composed of operators of torch: it has its gradient from them, runs
on any device, and is computed in the precision that its formula says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trainwright.core.registry import Registry


@dataclass(frozen=True, kw_only=True)
class FusedOperator:
    """One operator.

    `schema` is the declaration without namespace, ``npu_rms_norm(Tensor self, Tensor gamma, float epsilon=1e-06) ->
    (Tensor, Tensor)``; `compute` takes the same arguments in the same order. `source` says where the formula is from.
    """

    schema: str
    compute: Callable[..., Any]
    source: str

    @property
    def name(self) -> str:
        """The name under ``torch_npu``."""
        return self.schema.partition("(")[0]


@dataclass(frozen=True, kw_only=True)
class OperatorFamily:
    """The operators of one leaf (module constant ``FAMILY``)."""

    code: str
    summary: str
    operators: tuple[FusedOperator, ...]


FAMILIES: Registry[OperatorFamily] = Registry(
    kind="operator family", package="trainwright.emulate.operators", constant="FAMILY"
)
