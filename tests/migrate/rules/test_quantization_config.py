"""Quantisation by bitsandbytes."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import outcomes, remarks_of
from trainwright.migrate.rules.quantization_config import RULE

HEAD = "import torch\nimport bitsandbytes as bnb\nfrom transformers import AutoModel, BitsAndBytesConfig\n"

CASES = [
    ("BitsAndBytesConfig(load_in_8bit=False)", []),
    ("AutoModel.from_pretrained(n, load_in_8bit=False)", []),
    ("AutoModel.from_pretrained(n, torch_dtype=torch.bfloat16)", []),
    ("load(load_in_8bit=True)", []),
    ("isinstance(m, bnb.nn.Linear8bitLt)", []),
    ("type(m) == bnb.nn.Linear8bitLt", []),
    ("bnb.functional.something(x)", []),
    ("BitsAndBytesConfig(load_in_8bit=True)", ["blocked"]),
    ("BitsAndBytesConfig(load_in_8bit=args.bits == 8, load_in_4bit=args.bits == 4)", ["manual", "manual"]),
    ("AutoModel.from_pretrained(n, load_in_8bit=True)", ["blocked"]),
    ("Mine.from_pretrained(n, load_in_4bit=True)", ["manual"]),
    ("bnb.nn.Linear8bitLt(4, 4)", ["blocked"]),
    ("class L(bnb.nn.Linear8bitLt): ...", ["blocked"]),
    ("cls = bnb.nn.Linear8bitLt if eight else torch.nn.Linear", ["manual"]),
    ("bnb.nn.Linear4bit(4, 4)", ["manual"]),
    ("bnb.matmul(a, b)", ["blocked"]),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_outcomes(code: str, expected: list[str]) -> None:
    assert outcomes(f"{HEAD}{code}\n", RULE) == expected


FOUR = [
    ("load_in_4bit=True, bnb_4bit_quant_type='nf4'", "one type", "multi-backend"),
    ("load_in_4bit=True, bnb_4bit_quant_type='fp4'", "", 'bnb_4bit_quant_type="nf4"'),
    ("load_in_4bit=True", "the type is fp4", 'bnb_4bit_quant_type="nf4"'),
]


@pytest.mark.parametrize(("arguments", "detail", "advice"), FOUR)
def test_four_bits_are_nf4(arguments: str, detail: str, advice: str) -> None:
    (found,) = remarks_of(f"{HEAD}BitsAndBytesConfig({arguments})\n", RULE)
    assert found.outcome == "manual"
    assert detail in found.detail
    assert advice in found.advice
