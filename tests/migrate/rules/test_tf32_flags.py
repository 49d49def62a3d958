"""Switches of TF32."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated, outcomes, remarks_of
from trainwright.migrate.rules import cuda_backends
from trainwright.migrate.rules.tf32_flags import RULE

HEAD = "import torch\nfrom transformers import TrainingArguments, Seq2SeqTrainingArguments\n"

CASES = [
    ("TrainingArguments('o', tf32=False)", []),
    ("TrainingArguments('o', tf32=None)", []),
    ("train(tf32=True)", []),
    ("torch.set_float32_matmul_precision('highest')", []),
    ("torch.backends.cuda.matmul.allow_tf32 = True", ["note"]),
    ("torch.backends.cuda.matmul.allow_tf32 = False", ["note"]),
    ("torch.backends.cudnn.allow_tf32 = True", ["note"]),
    ("torch.backends.cudnn.allow_tf32 = False", ["manual"]),
    ("torch.backends.cuda.matmul.fp32_precision = 'tf32'", ["note"]),
    ("torch.set_float32_matmul_precision('high')", ["note"]),
    ("torch.set_float32_matmul_precision(args.precision)", ["note"]),
    ("TrainingArguments('o', tf32=args.tf32)", ["manual"]),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_outcomes(code: str, expected: list[str]) -> None:
    assert outcomes(f"{HEAD}{code}\n", RULE) == expected


def test_convolutions_have_a_switch_of_their_own() -> None:
    (found,) = remarks_of(f"{HEAD}torch.backends.cudnn.allow_tf32 = False\n", RULE)
    assert found.advice == "set torch.npu.conv.allow_hf32 = False"


def test_the_trainer_is_rewritten_once() -> None:
    code = f"{HEAD}a = Seq2SeqTrainingArguments('o', tf32=True, bf16=True)\n"
    new = migrated(code, RULE)
    assert new == code.replace("tf32=True", "tf32=False")
    assert migrated(new, RULE) == new


def test_no_edit_where_the_program_runs_on_both() -> None:
    (found,) = remarks_of(f"{HEAD}TrainingArguments('o', tf32=True)\n", RULE, style="agnostic")
    assert (found.outcome, found.edits) == ("manual", ())


def test_one_rule_speaks_of_a_switch() -> None:
    assert len(remarks_of(f"{HEAD}torch.backends.cuda.matmul.allow_tf32 = True\n", RULE, cuda_backends.RULE)) == 1
