"""Trainers of Lightning that are told to use GPUs."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes
from trainwright.migrate.rules.lightning_trainer import RULE

HEAD = "import pytorch_lightning as pl\nfrom lightning.pytorch import Trainer\n"
CASES = [
    ("Trainer(accelerator='auto', devices=8)\n", []),
    ("Trainer(max_epochs=1)\n", []),
    ("other.Trainer(accelerator='gpu')\n", []),
    ("Trainer(accelerator='gpu', devices=8)\n", ["manual"]),
    ("pl.Trainer(gpus=8)\n", ["manual"]),
    ("KIND = 'cuda'\npl.Trainer(accelerator=KIND)\n", ["manual"]),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_gpus_that_are_asked_for_are_named(code: str, expected: list[str]) -> None:
    assert outcomes(HEAD + code, RULE) == expected
