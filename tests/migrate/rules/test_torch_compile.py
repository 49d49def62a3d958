"""torch.compile: the default compiler is named, other backends are left."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import remarks_of
from trainwright.migrate.rules.torch_compile import RULE

CASES = [
    ('m = torch.compile(m, backend="eager")', []),
    ("m = torch.compile(m, disable=True)", []),
    ("f = torch.compile if on else identity", []),
    ("m = torch.compile(m)", ["torch.compile with the default compiler"]),
    ("@torch.compile\ndef f(): ...", ["torch.compile with the default compiler"]),
    ('m = torch.compile(m, mode="reduce-overhead")', ["torch.compile(mode='reduce-overhead')"]),
]


@pytest.mark.parametrize(("line", "titles"), CASES)
def test_each_form(line: str, titles: list[str]) -> None:
    assert [remark.title for remark in remarks_of(f"import torch\n{line}\n", RULE)] == titles
