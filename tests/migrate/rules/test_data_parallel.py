"""DataParallel is blocked where it is made, not where it is only named."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes
from trainwright.migrate.rules.data_parallel import RULE

CASES = [
    ("import torch\ntorch.nn.parallel.DistributedDataParallel(m)\n", []),
    ("import torch\nisinstance(m, torch.nn.DataParallel)\n", []),
    ('def f(model):\n    return hasattr(model.module, "x")\n', []),
    ("import torch\nm = torch.nn.DataParallel(m)\n", ["blocked"]),
    ("from torch.nn import DataParallel as DP\nm = DP(m)\n", ["blocked"]),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_each_use(code: str, expected: list[str]) -> None:
    assert outcomes(code, RULE) == expected
