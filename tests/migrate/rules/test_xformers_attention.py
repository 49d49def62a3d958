"""Attention of xformers."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import remarks_of
from trainwright.migrate.rules.xformers_attention import RULE

HEAD = "import xformers.ops as xops\nfrom xformers.ops import fmha\n"


@pytest.mark.parametrize(
    "code",
    [
        "import xformers\nprint(xformers.__version__)\n",
        "def memory_efficient_attention(q): ...\nmemory_efficient_attention(q)\n",
        "from xformers.ops import LowerTriangularMask\nm = LowerTriangularMask()\n",
        "class P:\n    def f(self): self.enable_xformers_memory_efficient_attention()\n",
        "def enable_xformers(m): m.unet.enable_xformers_memory_efficient_attention()\n",
        "if hasattr(model, 'enable_xformers_memory_efficient_attention'): pass\n",
    ],
)
def test_nothing_is_said(code: str) -> None:
    assert remarks_of(code, RULE) == []


SAID = [
    (
        "xops.memory_efficient_attention(q, k, v)",
        'write torch_npu.npu_fusion_attention(q, k, v, q.shape[2], "BSND", scale=q.shape[-1] ** -0.5)[0]; inputs',
    ),
    ("xops.memory_efficient_attention(q, k, v, p=self.p, scale=s)", "scale=s, keep_prob=1.0 - self.p)[0]"),
    (
        "xops.memory_efficient_attention(q, k, v, attn_bias=xops.LowerTriangularMask())",
        "sparse_mode=3)[0]; the mask begins",
    ),
    (
        "xops.memory_efficient_attention(q, k, v, fmha.attn_bias.BlockDiagonalCausalMask.from_seqlens(s))",
        "layout TND",
    ),
    ("xops.memory_efficient_attention(q, k, v, attn_bias=bias)", "attn_mask=bias).transpose(1, 2)"),
    ("xops.memory_efficient_attention(f(x), k, v)", "npu_fusion_attention(q, k, v,"),
    ("xops.SwiGLU(1, 2)", "operators of torch"),
    ("pipe.enable_xformers_memory_efficient_attention()", "remove the call"),
]


@pytest.mark.parametrize(("call", "advice"), SAID)
def test_what_to_write(call: str, advice: str) -> None:
    (found,) = remarks_of(f"{HEAD}y = {call}\n", RULE)
    assert (found.outcome, found.edits) == ("manual", ())
    assert advice in found.advice
    assert "xformers #1237" in found.evidence


def test_a_guarded_use_is_a_note() -> None:
    head = "try:\n    import xformers.ops\nexcept ImportError:\n    XFORMERS_AVAILABLE = False\n"
    call = "xformers.ops.memory_efficient_attention(q, k, v)\n"
    assert [found.outcome for found in remarks_of(f"{head}if XFORMERS_AVAILABLE: {call}", RULE)] == ["note"]
    assert [found.outcome for found in remarks_of(head + call, RULE)] == ["manual"]
