"""Optimizers of bitsandbytes."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated, remarks_of
from trainwright.migrate.rules.paged_optimizers import RULE

HEAD = "import torch\nimport bitsandbytes as bnb\nfrom dataclasses import dataclass, field\n"

FINE = [
    'TrainingArguments(o, optim="adamw_torch")',
    'if args.optim == "paged_adamw_32bit": pass',
    'NAMES = ["paged_adamw_32bit"]',
    'class Names:\n    PAGED = "paged_adamw_32bit"',
    "isinstance(o, bnb.optim.AdamW8bit)",
    "bnb.optim.optimizer.Optimizer8bit",
]


@pytest.mark.parametrize("code", FINE)
def test_nothing_is_said(code: str) -> None:
    assert remarks_of(f"{HEAD}{code}\n", RULE) == []


CHANGED = [
    ('TrainingArguments(o, optim="paged_adamw_32bit")', 'TrainingArguments(o, optim="adamw_torch")'),
    ("optim: str = field(default='paged_adamw_8bit')", "optim: str = field(default='adamw_torch')"),
    ('args = {"optim": "adamw_bnb_8bit"}', 'args = {"optim": "adamw_torch"}'),
    ('args.optim = "rmsprop_bnb"', 'args.optim = "rmsprop"'),
    ("o = bnb.optim.AdamW8bit(p, lr=1e-4, betas=(0.9, 0.95))", "o = torch.optim.AdamW(p, lr=1e-4, betas=(0.9, 0.95))"),
    ("o = bnb.optim.PagedAdam32bit(p)", "o = torch.optim.Adam(p)"),
    ("cls = bnb.optim.AdamW8bit", "cls = torch.optim.AdamW"),
]


@pytest.mark.parametrize(("before", "after"), CHANGED)
def test_the_optimizer_of_torch_is_offered(before: str, after: str) -> None:
    code = f"{HEAD}{before}\n"
    assert migrated(code, RULE) == code
    new = migrated(code, RULE, unsafe=True)
    assert new == f"{HEAD}{after}\n"
    assert remarks_of(new, RULE) == []


MANUAL = [
    ('TrainingArguments(o, optim="paged_lion_8bit")', "learning rate"),
    ("bnb.optim.Lion8bit(p)", "learning rate"),
    ("bnb.optim.AdamW(p, optim_bits=8)", "torch.optim.AdamW"),
    ("bnb.optim.AdamW8bit(p, **more)", "torch.optim.AdamW"),
    ("bnb.optim.GlobalOptimManager.get_instance()", "remove it"),
]


@pytest.mark.parametrize(("code", "advice"), MANUAL)
def test_the_rest_is_left_to_a_person(code: str, advice: str) -> None:
    (found,) = remarks_of(f"{HEAD}{code}\n", RULE)
    assert (found.outcome, found.edits) == ("manual", ())
    assert advice in found.advice


def test_the_shim_changes_nothing() -> None:
    (found,) = remarks_of(f"{HEAD}bnb.optim.AdamW8bit(p)\n", RULE, style="shim")
    assert (found.outcome, found.edits) == ("manual", ())
