"""Fused and capturable optimizers."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes
from trainwright.migrate.rules.fused_optimizers import RULE

CASES = [
    ("torch.optim.Adam(p)", []),
    ("torch.optim.Adam(p, fused=False)", []),
    ("torch.optim.Adam(p, fused=None)", []),
    ("torch.optim.AdamW(p, fused=True)", ["note"]),
    ("torch.optim.Adam(p, fused=True)", ["manual"]),
    ("torch.optim.SGD(p, fused=use_fused)", ["manual"]),
    ("torch.optim.AdamW(p, capturable=True)", ["manual"]),
]


@pytest.mark.parametrize(("line", "expected"), CASES)
def test_each_form(line: str, expected: list[str]) -> None:
    assert outcomes(f"import torch\n{line}\n", RULE) == expected
