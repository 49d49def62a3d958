"""Register the fused operators of torch_npu as ``torch.ops.npu``."""

from __future__ import annotations

from typing import Any

import torch

from trainwright.emulate.operator import FAMILIES

_LIBRARIES: list[Any] = []


def install_fused() -> None:
    """Define and implement every operator of every family; they are composed of operators of torch."""
    library = torch.library.Library("npu", "DEF")
    _LIBRARIES.append(library)
    for family in FAMILIES:
        for operator in family.operators:
            library.define(operator.schema)
            library.impl(operator.name, operator.compute, "CompositeImplicitAutograd")
