"""APIs of torch that work on the NPU with limits: `limited_apis`."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.limited_apis import RULE
from trainwright.migrate.source import python_source

HEAD = "import torch\nimport numpy as np\n\nx = torch.zeros(3)\n"


def remarks(code: str) -> list[Remark]:
    return scan_python(python_source("train.py", (HEAD + code).encode()), Project(), Options(), [RULE])


SILENT = [
    "torch.abs(x)",
    "torch.arange(3)",
    "torch.arange(3, dtype=torch.int64)",
    "torch.arange(3, dtype=x.dtype)",
    "torch.arange(3, dtype=torch.uint8)",
    "torch.arange(3, dtype=torch.uint8).view(-1)",
    'torch.arange(3, dtype=torch.uint8, device="cpu")',
    'torch.arange(3, dtype=torch.uint8, device=torch.device("meta"))',
    "torch.arange(3, dtype=np.complex128)",
    "torch.nn.Linear(3, 3, dtype=torch.bfloat16)",
    "torch.softmax(x, 0, dtype=torch.float64)",
    "torch.std(x)",
    "torch.optim.AdamW([x])",
    "from torch.distributions import Dirichlet",
    "def f(d: torch.distributions.Dirichlet): ...",
    "torch.cuda.synchronize()",
]


@pytest.mark.parametrize("code", SILENT)
def test_nothing_is_said(code: str) -> None:
    assert remarks(code) == []


FALLBACKS = [
    ("torch.distributions.Dirichlet(x)", "torch.distributions.dirichlet.Dirichlet"),
    ("from torch.distributions import Gamma\nGamma(x, x)", "torch.distributions.gamma.Gamma"),
    ("torch.linalg.lstsq(x, x)", "torch.linalg.lstsq"),
]


@pytest.mark.parametrize(("code", "name"), FALLBACKS)
def test_a_fallback_is_a_note(code: str, name: str) -> None:
    (found,) = remarks(code)
    assert (found.number, found.outcome, found.title) == ("TW802", "note", f"{name} may fall back to the CPU")


def test_a_data_type_that_is_not_listed_is_told_at_the_argument() -> None:
    code = "torch.arange(3, dtype=torch.complex64, device=x.device)"
    (found,) = remarks(code)
    assert (HEAD + code)[found.start : found.end] == "torch.complex64"
    assert (found.outcome, found.title) == ("manual", "torch.arange is not listed for complex64 on the NPU")
    assert "int64" in found.detail


REPORTED = [
    "torch.arange(3, dtype=torch.uint8, device=device)",
    "torch.arange(3, dtype=torch.uint8).to(device)",
    "torch.set_default_device(device)\ntorch.arange(3, dtype=torch.uint8)",
    "torch.arange(3, dtype=torch.uint8, **kwargs)",
]


@pytest.mark.parametrize("code", REPORTED)
def test_what_may_be_on_the_device_is_reported(code: str) -> None:
    assert len(remarks(code)) == 1
