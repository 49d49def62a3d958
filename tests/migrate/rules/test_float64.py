"""Double precision is named where it reaches the device, and nowhere else."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes
from trainwright.migrate.rules.float64 import RULE

CASES = [
    ("x = torch.zeros(2, dtype=torch.float64)", []),
    ('x = torch.zeros(2, dtype=torch.float64, device="cpu")', []),
    ('model.to(device="meta", dtype=torch.float64)', []),
    ('x = torch.zeros(2, dtype=torch.float64, device=torch.device("cpu"))', []),
    ("if x.dtype == torch.float64: pass", []),
    ("x = loss.cpu().double()", []),
    ("x = torch.zeros(2, dtype=torch.float64, device=device)", ["manual"]),
    ('x = torch.zeros(2).to("cuda").to(torch.double)', ["manual"]),
    ("x = torch.zeros(2).cuda().double()", ["manual"]),
    ("torch.set_default_dtype(torch.float64)", ["manual"]),
]


@pytest.mark.parametrize(("line", "expected"), CASES)
def test_each_use(line: str, expected: list[str]) -> None:
    assert outcomes(f"import torch\n{line}\n", RULE) == expected
