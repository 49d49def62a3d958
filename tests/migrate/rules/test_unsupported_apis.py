"""APIs of torch that the NPU does not support: `unsupported_apis`."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.unsupported_apis import RULE
from trainwright.migrate.source import python_source

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\nx = torch.zeros(3)\n"


def remarks(code: str, options: Options | None = None) -> list[Remark]:
    return scan_python(python_source("train.py", (HEAD + code).encode()), Project(), options or Options(), [RULE])


SILENT = [
    "torch.abs(x)",
    "nn.Linear(3, 3)",
    "torch.nothing_of_this_name(x)",
    "torch.distributed.destroy_process_group()",
    "import numpy as np\nnp.random.poisson(3)",
    "def poisson(x): ...\npoisson(x)",
    "import scipy.sparse as torch_like\ntorch_like.sparse_csr_tensor(x)",
    # spoken of by other rules
    "torch.cuda.memory_usage()",
    "torch.backends.cuda.sdp_kernel()",
    "torch.compiler.disable()",
    "nn.DataParallel(x)",
    "nn.parallel.DataParallel(x)",
    "torch.utils.cpp_extension.load('m', [])",
    # named, not used
    "from torch import poisson",
    "def f(m: nn.GRU) -> nn.GRU: ...",
    "m: nn.GRU",
    "isinstance(x, nn.GRU)",
    "x.mode",
    "frame.mode()",
]


@pytest.mark.parametrize("code", SILENT)
def test_nothing_is_said(code: str) -> None:
    assert remarks(code) == []


BLOCKED = [
    ("torch.poisson(x)", "torch.poisson"),
    ("from torch import poisson as p\np(x)", "torch.poisson"),
    ("torch.sparse_csr_tensor(x, x, x)", "torch.sparse_csr_tensor"),
    ("torch.linalg.ldl_factor(x)", "torch.linalg.ldl_factor"),
]


@pytest.mark.parametrize(("code", "name"), BLOCKED)
def test_what_the_table_and_the_kernels_deny_is_blocked(code: str, name: str) -> None:
    (found,) = remarks(code)
    assert (found.number, found.outcome, found.name) == ("TW801", "blocked", name)
    assert found.title == f"{name} is not supported on the NPU"
    assert found.evidence == "torch_npu 2.8 API support table"


@pytest.mark.parametrize("method", ["mode", "to_sparse", "to_sparse_csr"])
def test_a_method_is_told_on_tensors_which_may_be_on_the_cpu(method: str) -> None:
    (found,) = remarks(f"x.{method}()")
    assert (found.outcome, found.confidence, found.name) == ("manual", "inferred", f"torch.Tensor.{method}")
    assert "No kernel for it is registered." in found.detail


DOUBTFUL = [
    ("nn.GRU(3, 3)", "manual", "torch 2.13 lists it as supported"),
    ("class Net(nn.GRU): ...", "manual", "torch 2.13 lists it as supported"),
    ("nn.AvgPool3d(2)", "manual", "registers a kernel"),
    ("F.gumbel_softmax(x)", "manual", "made of"),
    ("torch.func.vmap(len)", "note", "runs on the host"),
    ("nn.utils.rnn.pack_padded_sequence(x, [3])", "note", "runs on the host"),
]


@pytest.mark.parametrize(("code", "outcome", "why"), DOUBTFUL)
def test_a_doubtful_no_is_never_blocked(code: str, outcome: str, why: str) -> None:
    (found,) = remarks(code)
    assert found.outcome == outcome
    assert why in found.detail
    assert found.title.endswith("is listed as not supported, but may work")


def test_the_answer_depends_on_the_version() -> None:
    assert len(remarks("nn.MaxPool2d(2)", Options(torch="2.6"))) == 1
    assert remarks("nn.MaxPool2d(2)", Options(torch="2.8")) == []
