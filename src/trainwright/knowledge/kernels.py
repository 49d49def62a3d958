"""Whether the NPU brings a kernel for what an API computes: a second witness beside the support table."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from trainwright.knowledge.surface import operators
from trainwright.knowledge.tables import read_rows

#: ``registered``: the NPU has one. ``missing``: the operator needs one and the NPU has none. ``composite``: made of
#: other operators. Empty: the API is not one operator of this name.
Kernel = Literal["registered", "missing", "composite", ""]

#: Module -> what its operators are called in ATen: ``torch.fft.fft2`` is ``fft_fft2``.
_PREFIXES = {"torch.fft": "fft_", "torch.linalg": "linalg_", "torch.special": "special_", "torch.sparse": "_sparse_"}
_PLAIN = frozenset({"torch", "torch.nn", "torch.nn.functional", "torch.Tensor"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@cache
def _aten() -> dict[str, str]:
    return {row[0]: row[1] for row in read_rows("aten_operators.tsv")}


@cache
def kernel(api: str) -> Kernel:
    """What is known of the operator behind an API (``torch.poisson``, ``torch.nn.RReLU``)."""
    found = [base for base in _candidates(api) if base in _aten()]
    if any(base in operators("aten") for base in found):
        return "registered"
    if any(_aten()[base] == "composite" and not base.startswith("_") for base in found):
        return "missing" if any(_aten()[base] == "kernel" for base in found) else "composite"
    return "missing" if found else ""


def _candidates(api: str) -> list[str]:
    module, _, last = api.rpartition(".")
    if module in _PREFIXES:
        names = [_PREFIXES[module] + last, f"{_PREFIXES[module]}{last}_ex"]
    elif module in _PLAIN:
        snake = _CAMEL.sub("_", last).lower()
        names = [last, snake]
    else:
        return []
    stems = [*names, *(name.removesuffix("_") for name in names if name.endswith("_"))]
    return [form for stem in stems for form in (stem, f"_{stem}", f"{stem}_forward")]
