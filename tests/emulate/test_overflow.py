"""Chips that saturate, and the gradient scalers that have to notice."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from trainwright.emulate import install


@pytest.fixture
def _saturating() -> None:
    install(devices=1, memory_gib=4, chip="a910a")
    torch.npu.clear_npu_overflow_flag()


@pytest.mark.usefixtures("_saturating")
def test_inf_becomes_the_largest_number_and_nan_zero() -> None:
    x = torch.full((2,), 60000.0, dtype=torch.float16, device="npu")
    assert (x + x).tolist() == [65504, 65504]
    assert torch.npu.get_npu_overflow_flag()
    torch.npu.clear_npu_overflow_flag()
    assert (x - x).div(x - x).tolist() == [0, 0]
    assert torch.npu.npu_check_overflow(x)
    assert not torch.npu.get_npu_overflow_flag()


@pytest.mark.usefixtures("_saturating")
def test_a_cast_saturates_and_a_fill_does_not() -> None:
    assert torch.tensor([1e6, -1e6], device="npu").half().tolist() == [65504, -65504]
    assert torch.full((1,), float("-inf"), device="npu").item() == float("-inf")


def test_other_chips_follow_ieee() -> None:
    x = torch.full((1,), 60000.0, dtype=torch.float16, device="npu")
    assert (x + x).item() == float("inf")
    with pytest.raises(RuntimeError, match="Unsupported api"):
        torch.npu.get_npu_overflow_flag()


SCALERS = {
    "torch.amp": lambda scale: torch.amp.GradScaler("npu", init_scale=scale),
    "torch.npu.amp": lambda scale: torch.npu.amp.GradScaler(init_scale=scale),
}


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("chip", ["a910a", "a2"])
def test_a_scaler_sees_the_overflow(scaler: str, chip: str) -> None:
    install(devices=1, memory_gib=4, chip=chip)
    assert _scale_after_training(SCALERS[scaler](2.0**40)) < 2.0**30


def _scale_after_training(scaler: Any) -> float:
    model = nn.Linear(4, 4).to("npu")
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(30):
        with torch.autocast("npu", dtype=torch.float16):
            loss = model(torch.ones(2, 4, device="npu")).square().mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return float(scaler.get_scale())
