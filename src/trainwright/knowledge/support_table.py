"""From the support table as published to the one kept here: one row per name that a program would write.

The published table was gathered from documents of several releases that do not spell names alike: ``Tensor.abs`` in
some, ``torch.Tensor.abs`` in others. Rows of one API are merged; rows that name no API are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: Columns before those of the torch versions.
FIXED = ("api", "npu_name", "dtypes", "cpu_fallback", "other_limit")

#: First part of a name in the documents -> where torch has it.
_HOMES = {
    "Tensor": "torch.Tensor",
    "Optimizer": "torch.optim.Optimizer",
    "Function": "torch.autograd.Function",
    "FunctionCtx": "torch.autograd.function.FunctionCtx",
    "Node": "torch.autograd.graph.Node",
}
_NAME = re.compile(r"torch(\.[A-Za-z_]\w*)+", re.ASCII)


def api_name(documented: str) -> str:
    """The dotted name of an API that the documents call `documented`; empty when it is none."""
    first, dot, rest = documented.partition(".")
    full = _HOMES.get(first, first) + dot + rest
    match = _NAME.match(full)
    return match.group() if match else ""


def merged_rows(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One row per API, in the order of its name; of two rows the better spelled one decides what both say."""
    found: dict[str, dict[str, str]] = {}
    # A row that already bears the full name comes from the newer documents: it is put in first.
    for row in sorted(rows, key=lambda row: (not row[0].startswith("torch."), row)):
        cells = dict(zip(header, row, strict=True))
        name = api_name(cells["api"])
        if name:
            found[name] = _joined(found[name], cells) if name in found else {**cells, "api": name}
    return [tuple(found[name][column] for column in header) for name in sorted(found)]


def _joined(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    return {column: cell or second[column] for column, cell in first.items()}
