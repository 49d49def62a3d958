"""Environment variables of CUDA, NCCL and PyTorch, and what the NPU reads instead."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from trainwright.knowledge.tables import read_rows


@dataclass(frozen=True, kw_only=True)
class Variable:
    """What is known about one variable.

    Args:
        name: the variable, or a family (``NCCL_*``).
        npu: the variable to set instead; empty when there is none.
        safety: of writing `npu` for `name` and leaving the value as it is.
        note: what to mind, or what to do when there is no counterpart.
        evidence: where this comes from.
    """

    name: str
    npu: str
    safety: Literal["safe", "unsafe", "display"]
    note: str
    evidence: str


@cache
def variables() -> dict[str, Variable]:
    """Every variable of the table, by name."""
    return {
        name: Variable(name=name, npu=npu, safety=safety, note=note, evidence=evidence)  # type: ignore[arg-type]
        for name, npu, safety, note, evidence in read_rows("environment.tsv")
    }


def npu_variable(name: str) -> Variable | None:
    """What is known about a variable or its family; None when it does not concern the NPU."""
    table = variables()
    if name in table:
        return table[name]
    families = sorted((entry for entry in table if entry.endswith("*")), key=len, reverse=True)
    return next((table[family] for family in families if name.startswith(family[:-1])), None)
