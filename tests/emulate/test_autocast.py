"""Which dtype an operator computes in under autocast."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

CASES = [
    ("matrix product", lambda x: x @ x, "lower"),
    ("linear", lambda x: functional.linear(x, x), "lower"),
    ("exponential", lambda x: x.exp(), "float32"),
    ("softmax", lambda x: x.softmax(-1), "float32"),
    ("sum", lambda x: x.sum(), "float32"),
    ("layer norm", lambda x: functional.layer_norm(x, (4,)), "float32"),
    ("addition", lambda x: x + x, "input"),
]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("name", "call", "expected"), CASES)
def test_dtypes(name: str, call: Any, expected: str, dtype: torch.dtype) -> None:
    for given in (torch.float32, dtype):
        x = torch.ones(4, 4, device="npu", dtype=given)
        with torch.autocast("npu", dtype=dtype):
            found = call(x).dtype
        assert found == {"lower": dtype, "float32": torch.float32, "input": given}[expected]


def test_it_is_off_outside_and_where_it_is_switched_off() -> None:
    x = torch.ones(2, 2, device="npu")
    assert (x @ x).dtype == torch.float32
    with torch.autocast("npu", enabled=False):
        assert (x @ x).dtype == torch.float32


def test_weights_are_cast_once_in_a_region() -> None:
    w = torch.ones(2, 2, device="npu", requires_grad=True)
    x = torch.ones(2, 2, device="npu")
    with torch.autocast("npu", dtype=torch.bfloat16):
        y = x @ w + x @ w
    casts = {edge[0] for edge in _leaves(y.grad_fn)}
    assert len(casts) == 1
    y.sum().backward()
    assert w.grad is not None
    assert w.grad.dtype == torch.float32
    assert w.grad.tolist() == [[4, 4], [4, 4]]


def _leaves(node: Any) -> list[tuple[Any, Any]]:
    """The nodes that cast a leaf."""
    found = []
    for child, _ in node.next_functions:
        if child is None:
            continue
        if type(child).__name__ == "ToCopyBackward0":
            found.append((child, node))
        else:
            found += _leaves(child)
    return found


def test_binary_cross_entropy_is_refused() -> None:
    x = torch.full((2,), 0.5, device="npu")
    with torch.autocast("npu"), pytest.raises(RuntimeError, match="unsafe to autocast"):
        functional.binary_cross_entropy(x, x)
