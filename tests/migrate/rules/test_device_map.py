"""Device maps of Hugging Face."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated, remarks_of
from trainwright.migrate.rules import device_strings
from trainwright.migrate.rules.device_map import RULE

HEAD = "import torch\nfrom transformers import AutoModel\n"

FINE = [
    'AutoModel.from_pretrained(n, device_map="auto")',
    'AutoModel.from_pretrained(n, device_map={"": 0})',
    'AutoModel.from_pretrained(n, device_map="npu")',
    'message = "device_map=cuda"',
    'folder = {"device_map_cuda": "cuda"}',
]


@pytest.mark.parametrize("code", FINE)
def test_nothing_is_said(code: str) -> None:
    assert remarks_of(f"{HEAD}{code}\n", RULE) == []


CHANGED = [
    'AutoModel.from_pretrained(n, device_map="cuda")',
    "AutoModel.from_pretrained(n, device_map='cuda:0')",
    'AutoModel.from_pretrained(n, device_map=f"cuda:{rank}")',
    'AutoModel.from_pretrained(n, device_map={"": "cuda:1"})',
    'AutoModel.from_pretrained(n, device_map="auto" if many else "cuda")',
    'device_map = {"embed": "cuda:0", "head": "cuda:1"}\nAutoModel.from_pretrained(n, device_map=device_map)',
    'kwargs["device_map"] = "cuda"',
    'pipe = pipeline("text", model=n, device_map="cuda")',
    'def load(n, device_map="cuda"): ...',
]


@pytest.mark.parametrize("code", CHANGED)
def test_devices_are_rewritten_once(code: str) -> None:
    code = f"{HEAD}{code}\n"
    new = migrated(code, RULE)
    assert new == code.replace("cuda", "npu")
    assert remarks_of(new, RULE) == []


@pytest.mark.parametrize("code", CHANGED)
def test_one_rule_speaks_of_a_device(code: str) -> None:
    found = remarks_of(f"{HEAD}{code}\n", RULE, device_strings.RULE)
    assert len({remark.start for remark in found}) == len(found)


def test_the_other_styles() -> None:
    code = f'{HEAD}AutoModel.from_pretrained(n, device_map="cuda")\n'
    assert "str(torch.accelerator.current_accelerator())" in migrated(code, RULE, style="agnostic")
    assert [found.outcome for found in remarks_of(code, RULE, style="shim")] == ["manual"]
