"""Every Triton kernel is listed once, with what a block holds and the grid it is started with."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import remarks_of
from trainwright.migrate.rules.triton_kernels import RULE

HEAD = "import triton\nimport triton.language as tl\nfrom triton import jit\n"
BODY = "def k(p, B: tl.constexpr):\n    x = tl.load(p + tl.arange(0, B))\n"

NOTHING = [
    "import numba\n@numba.jit\ndef k(x):\n    return x\n",
    "import torch\n@torch.jit.script\ndef k(x):\n    return x\n",
    "from triton import Config\nc = Config({})\n",
    "decorators = [jit]\n",
]


@pytest.mark.parametrize("code", NOTHING)
def test_what_is_no_kernel(code: str) -> None:
    assert remarks_of(HEAD + code, RULE) == []


FORMS = [
    f"@triton.jit\n{BODY}",
    f"@jit\n{BODY}",
    f"@triton.jit(do_not_specialize=['p'])\n{BODY}",
    f"@triton.autotune(configs=[], key=[])\n@triton.jit\n{BODY}",
    f"@triton.heuristics({{'B': lambda a: 1}})\n@triton.jit\n{BODY}",
    f"{BODY}k = triton.jit(k)\n",
    f"if True:\n    import triton as t\n@t.jit\n{BODY}",
]


@pytest.mark.parametrize("code", FORMS)
def test_every_form_is_listed_once(code: str) -> None:
    (remark,) = remarks_of(HEAD + code, RULE)
    assert (remark.title, remark.outcome) == ("Triton kernel k has to be ported", "manual")
    assert "triton-ascend" in remark.advice


def test_the_numbers_are_in_the_detail() -> None:
    code = f"{HEAD}@triton.jit\n{BODY}k[(70000,)](x, B=65536)\nk[(n,)](x, B=1024)\n"
    (remark,) = remarks_of(code, RULE)
    assert remark.detail == (
        "A block holds about 262,144 bytes (2,097,152 bits) in 1 tile with B=65536, more than the 196,608 bytes "
        "(1,572,864 bits) of the unified buffer; masks, values in between and double buffering come on top. "
        "Elements of unknown type count 4 bytes. "
        "The grid of line 7, (70000,), has over 65,535 blocks: 70,000 or more. "
        "Check that the grid of line 8, (n,), stays within 65,535 blocks."
    )
    assert remark.advice.startswith("Make it fit")


def test_what_is_not_known_is_said() -> None:
    (remark,) = remarks_of(f"{HEAD}@triton.jit\n{BODY}", RULE)
    assert remark.detail == "What a block holds depends on B, not known here."


def test_functions_for_other_kernels_are_told_apart() -> None:
    (remark,) = remarks_of(f"{HEAD}@triton.jit\ndef half(x):\n    return x * 0.5\n", RULE)
    assert remark.title == "Triton function half has to be ported"
