"""flex_attention of torch."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes, remarks_of
from trainwright.migrate.rules.flex_attention import RULE

HEAD = "import functools, torch\nfrom torch.nn.attention.flex_attention import {0}\n"

CASES = [
    ("flex_attention", "def f(a=None): ...", []),
    ("flex_attention", "if flex_attention is None: pass", []),
    ("flex_attention", "y = flex_attention(q.cpu(), k, v)", []),
    ("flex_attention", "y = flex_attention(q.to('cpu'), k, v)", []),
    ("BlockMask", "def f(m: BlockMask): ...", []),
    ("flex_attention", "y = flex_attention(q, k, v)", ["blocked"]),
    ("flex_attention", "attend = torch.compile(flex_attention, dynamic=False)", ["blocked"]),
    ("flex_attention", "attend = functools.partial(flex_attention, enable_gqa=True)", ["blocked"]),
    ("create_block_mask", "m = create_block_mask(f, None, None, 8, 8)", ["manual"]),
    ("create_mask", "m = create_mask(f, None, None, 8, 8)", ["note"]),
]


@pytest.mark.parametrize(("name", "code", "expected"), CASES)
def test_uses(name: str, code: str, expected: list[str]) -> None:
    assert outcomes(f"{HEAD.format(name)}{code}\n", RULE) == expected


def test_the_way_out_is_named() -> None:
    (found,) = remarks_of(f"{HEAD.format('flex_attention')}flex_attention(q, k, v)\n", RULE)
    assert "scaled_dot_product_attention" in found.advice
    assert found.minutes > 0
