"""Versions and switches: what is harmless is a note, what fails on None is named."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes
from trainwright.migrate.rules.cuda_backends import RULE

CASES = [
    ("torch.backends.mps.is_built()", []),
    ("torch.backends.cuda.matmul.allow_tf32 = True", []),
    ("torch.backends.cudnn.benchmark = True", ["note"]),
    ("torch.backends.cudnn.deterministic = True", ["note"]),
    ("x = torch.version.cuda is not None", ["note"]),
    ("if torch.version.cuda: pass", ["note"]),
    ("print(torch.version.cuda)", ["note"]),
    ("x = float(torch.version.cuda)", ["manual"]),
    ('x = torch.version.cuda >= "12"', ["manual"]),
    ("with torch.backends.cuda.sdp_kernel(enable_flash=True): pass", ["manual"]),
]


@pytest.mark.parametrize(("line", "expected"), CASES)
def test_each_use(line: str, expected: list[str]) -> None:
    assert outcomes(f"import torch\n{line}\n", RULE) == expected
