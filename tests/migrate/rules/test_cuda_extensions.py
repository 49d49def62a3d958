"""Builds that need CUDA are named with their sources; builds of plain C++ are not."""

from __future__ import annotations

import pytest

from tests.migrate.native.small_project import FOCAL, found_in
from tests.migrate.python.check import outcomes, remarks_of
from trainwright.migrate.rules.cuda_extensions import RULE

HEAD = "from torch.utils.cpp_extension import CUDA_HOME, CUDAExtension, CppExtension, load, load_inline\n"
CASES = [
    ("CppExtension('x', ['a.cpp'])", []),
    ("load('x', ['a.cpp'])", []),
    ("loaders = {'native': load}", []),
    ("import torch\ntorch.load('x.pt')", []),
    ("CUDAExtension('x', ['a.cpp', 'b.cu'])", ["blocked"]),
    ("CUDAExtension('x', files())", ["blocked"]),
    ("load('x', ['a.cu'])", ["blocked"]),
    ("load('x', files(), extra_cuda_cflags=['-O3'])", ["blocked"]),
    ("load_inline('x', '', cuda_sources=text)", ["blocked"]),
    ("import torch\nif torch.cuda.is_available():\n    CUDAExtension('x', ['b.cu'])", ["manual"]),
    ("if CUDA_HOME is None:\n    raise RuntimeError", ["note"]),
    ("import os\nnvcc = os.path.join(CUDA_HOME, 'bin', 'nvcc')", ["manual"]),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_each_form(code: str, expected: list[str]) -> None:
    assert outcomes(f"{HEAD}{code}\n", RULE) == expected


def test_the_remark_names_sources_flags_and_the_way_out() -> None:
    code = (
        "CUDAExtension('ops._C', ['ops.cpp', 'k.cu'],\n"
        "    extra_compile_args={'cxx': ['-O3'], 'nvcc': ['-O3', '-gencode', '--use_fast_math']})\n"
    )
    (remark,) = remarks_of(HEAD + code, RULE)
    assert remark.title == "CUDAExtension builds ops._C with CUDA"
    assert remark.detail == (
        "CUDA sources: k.cu; 1 other. Flags of nvcc that no other compiler takes: -gencode, --use_fast_math."
    )
    assert remark.advice.startswith('Build the C++ part with NpuExtension("ops._C", ["ops.cpp"])')


def test_a_build_of_kernels_only_keeps_nothing() -> None:
    (remark,) = remarks_of(f"{HEAD}CUDAExtension('x', ['k.cu'])\n", RULE)
    assert remark.advice.startswith("There is no C++ part to keep")


def test_a_maker_in_a_variable_is_followed_to_its_call() -> None:
    found = [(line, remark.outcome, remark.name) for _, line, remark in found_in(FOCAL, RULE.number)]
    assert found == [
        (12, "note", "torch.utils.cpp_extension.CUDA_HOME"),
        (13, "manual", "vision._C"),
    ]
