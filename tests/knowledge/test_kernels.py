"""The operator behind an API."""

from __future__ import annotations

import pytest

from trainwright.knowledge.dtypes import listed_dtype
from trainwright.knowledge.kernels import kernel

KERNELS = [
    ("torch.abs", "registered"),
    ("torch.nn.functional.avg_pool3d", "registered"),
    ("torch.nn.AvgPool3d", "registered"),
    ("torch.Tensor.add_", "registered"),
    ("torch.poisson", "missing"),
    ("torch.linalg.ldl_factor", "missing"),
    ("torch.nanquantile", "composite"),
    ("torch.nn.Module", ""),
    ("torch.distributed.gather", ""),
]


@pytest.mark.parametrize(("name", "known"), KERNELS)
def test_whether_there_is_a_kernel(name: str, known: str) -> None:
    assert kernel(name) == known


@pytest.mark.parametrize(
    ("dotted", "listed"),
    [("torch.float64", "fp64"), ("torch.half", "fp16"), ("torch.nn.float", ""), ("numpy.float64", ""), ("float", "")],
)
def test_data_types_as_the_table_spells_them(dotted: str, listed: str) -> None:
    assert listed_dtype(dotted) == listed
