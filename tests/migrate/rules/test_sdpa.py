"""Limits of scaled_dot_product_attention, and the choice of its kernels."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes, remarks_of
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.rules.sdpa import RULE
from trainwright.migrate.source import python_source

HEAD = "import torch\nimport torch.nn.functional as F\n"

FINE = [
    "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "F.scaled_dot_product_attention(q, k, v, attn_mask=m, is_causal=True)",
    "F.scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=True)",
    "F.scaled_dot_product_attention(q, k, v, attn_mask=m.bool(), is_causal=m is None)",
    "q = torch.randn(1, 8, 16, 512)\nF.scaled_dot_product_attention(q, q, q)",
    "q = x.view(b, t, 8, d).transpose(1, 2)\nF.scaled_dot_product_attention(q, q, q)",
    "q = torch.randn(1, 8, 1024, 64).transpose(2, 3)\nF.scaled_dot_product_attention(q, q, q)",
]


@pytest.mark.parametrize("code", FINE)
def test_nothing_is_said(code: str) -> None:
    assert remarks_of(f"{HEAD}{code}\n", RULE) == []


BEYOND = [
    ("F.scaled_dot_product_attention(q, k, v, attn_mask=m.bool(), is_causal=True)", "no attn_mask together"),
    ("F.scaled_dot_product_attention(q, k, v, m == 0, 0.0, True)", "no attn_mask together"),
    ("q = torch.randn(1, 8, 16, 1024)\nF.scaled_dot_product_attention(q, q, q)", "here it is 1024"),
    ("q = x.view(b, t, 1, 640).transpose(1, 2)\nF.scaled_dot_product_attention(q, q, q)", "here it is 640"),
]


@pytest.mark.parametrize(("code", "title"), BEYOND)
def test_limits_that_the_code_shows(code: str, title: str) -> None:
    (found,) = remarks_of(f"{HEAD}{code}\n", RULE)
    assert found.outcome == "manual"
    assert title in found.title


def test_the_newest_chip_has_no_such_operator() -> None:
    source = python_source("train.py", f"{HEAD}F.scaled_dot_product_attention(q, k, v)\n".encode())
    (found,) = scan_python(source, Project(), Options(soc="950DT"), [RULE])
    assert "950DT" in found.title


KERNELS = [
    ("sdpa_kernel", []),
    ("with sdpa_kernel(SDPBackend.FLASH_ATTENTION): pass", ["manual"]),
    ("with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]): pass", ["manual"]),
    ("with sdpa_kernel(SDPBackend.MATH): pass", ["manual"]),
]


@pytest.mark.parametrize(("code", "expected"), KERNELS)
def test_the_choice_of_kernels(code: str, expected: list[str]) -> None:
    assert outcomes(f"from torch.nn.attention import SDPBackend, sdpa_kernel\n{code}\n", RULE) == expected


def test_plain_operators_are_another_matter() -> None:
    code = "from torch.nn.attention import SDPBackend, sdpa_kernel\nwith sdpa_kernel(SDPBackend.MATH): pass\n"
    (found,) = remarks_of(code, RULE)
    assert "second derivatives" in found.detail
