"""Guards that ask for CUDA: a fallback is kept, a check is offered, the rest is left to a person."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated, outcomes
from trainwright.migrate.rules.is_cuda import RULE

CASES = [
    ("class C:\n    is_cuda = 1\nC().is_cuda\n", []),
    ("def f(x):\n    if x.is_cuda:\n        return kernel(x)\n    else:\n        return slow(x)\n", ["note"]),
    ("def f(x):\n    if x.is_cuda:\n        return kernel(x)\n    return slow(x)\n", ["note"]),
    ("def f(x):\n    y = kernel(x) if x.is_cuda else slow(x)\n", ["note"]),
    ("def f(x):\n    if x.is_cuda:\n        return kernel(x)\n    raise ValueError\n", ["manual"]),
    ("def f(x):\n    assert x.is_cuda and x.dim() == 3\n", ["replaced"]),
    ("def f(x):\n    if not x.is_cuda:\n        raise ValueError\n", ["replaced"]),
    ("def f(x):\n    log(x.is_cuda)\n", ["manual"]),
    ("def f(x, y):\n    if x.is_cuda and y.is_cuda and x.get_device() != y.get_device():\n        pass\n", ["manual"]),
    ("def f(x, y):\n    log(x.is_cuda)\n    log(y.is_cuda)\n", ["manual", "manual"]),
    ("def f(x, y):\n    assert x.is_cuda and y.is_cuda\n", ["replaced"]),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_the_use_decides(code: str, expected: list[str]) -> None:
    assert outcomes(code, RULE) == expected


def test_only_checks_are_rewritten_and_only_when_asked() -> None:
    code = "def f(x):\n    assert x.is_cuda\n"
    assert migrated(code, RULE) == code
    assert migrated(code, RULE, unsafe=True) == code.replace("is_cuda", "is_npu")
    code = "def f(x, y):\n    assert x.is_cuda and y.is_cuda\n"
    assert migrated(code, RULE, unsafe=True) == code.replace("is_cuda", "is_npu")
