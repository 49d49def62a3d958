"""The attention that a model of Hugging Face is asked for."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated, remarks_of
from trainwright.migrate.rules.attn_implementation import RULE

HEAD = "from dataclasses import dataclass, field\nfrom transformers import AutoModel\n"

FINE = [
    'AutoModel.from_pretrained(n, attn_implementation="sdpa")',
    'if config._attn_implementation == "flash_attention_2": pass',
    'ATTENTION = {"flash_attention_2": FlashAttention}',
    'choices = ["flash_attention_2", "sdpa"]',
    'raise ValueError("attn_implementation=flash_attention_2 needs flash-attn")',
    "AutoModel.from_pretrained(n, use_flash_attention_2=False)",
    'print("flash_attention_2")',
]


@pytest.mark.parametrize("code", FINE)
def test_nothing_is_said(code: str) -> None:
    assert remarks_of(f"{HEAD}{code}\n", RULE) == []


CHANGED = [
    'AutoModel.from_pretrained(n, attn_implementation="flash_attention_2")',
    "model = Mine.from_pretrained(n, attn_implementation='flash_attention_2' if fast else 'eager')",
    'config._attn_implementation = "flash_attention_2"',
    'kwargs = {"attn_implementation": "flash_attention_2"}',
    'kwargs["attn_implementation"] = "flash_attention_2"',
    'kwargs = dict(attn_implementation="flash_attention_2")',
    'def load(attn_implementation: str = "flash_attention_2"): ...',
    '@dataclass\nclass A:\n    attn_implementation: str = field(default="flash_attention_2")',
    'parser.add_argument("--attn_implementation", default="flash_attention_2")',
]


@pytest.mark.parametrize("code", CHANGED)
def test_flash_attention_becomes_sdpa_when_asked(code: str) -> None:
    code = f"{HEAD}{code}\n"
    assert migrated(code, RULE) == code
    new = migrated(code, RULE, unsafe=True)
    assert new == code.replace("flash_attention_2", "sdpa")
    assert remarks_of(new, RULE) == []


@pytest.mark.parametrize("value", ["flash_attention_3", "flex_attention", "xformers"])
def test_other_kinds(value: str) -> None:
    code = f'AutoModel.from_pretrained(n, attn_implementation="{value}")\n'
    assert migrated(HEAD + code, RULE, unsafe=True) == HEAD + code.replace(value, "sdpa")


FLAGS = [
    "AutoModel.from_pretrained(n, use_flash_attention_2=True)",
    "AutoModel.from_config(c, use_flash_attention_2=True)",
    "cls.from_pretrained(n, use_flash_attention_2=True)",
    'kwargs = {"use_flash_attention_2": True}',
    'kwargs["use_flash_attention_2"] = True',
]


@pytest.mark.parametrize("code", FLAGS)
def test_the_old_flag(code: str) -> None:
    assert migrated(f"{HEAD}{code}\n", RULE, unsafe=True) == f"{HEAD}{code.replace('True', 'False')}\n"


def test_a_flag_that_is_computed_is_left_to_a_person() -> None:
    (found,) = remarks_of(f"{HEAD}AutoModel.from_pretrained(n, use_flash_attention_2=fast)\n", RULE)
    assert (found.outcome, found.edits) == ("manual", ())


def test_the_shim_changes_nothing() -> None:
    code = f'{HEAD}AutoModel.from_pretrained(n, attn_implementation="flash_attention_2")\n'
    assert [found.edits for found in remarks_of(code, RULE, style="shim")] == [()]
