"""Imports of libraries that are not on the NPU as they are: `library_imports` and `gpu_libraries`."""

from __future__ import annotations

import pytest

from trainwright.knowledge.libraries import libraries
from trainwright.migrate.options import Options
from trainwright.migrate.project import Facts, Project, merged
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules import gpu_libraries, library_imports
from trainwright.migrate.source import python_source

NOTHING = Project()


def remarks(code: str, *, path: str = "train.py", project: Project = NOTHING) -> list[Remark]:
    rules = [library_imports.RULE, gpu_libraries.RULE]
    return scan_python(python_source(path, code.encode()), project, Options(), rules)


SILENT = [
    "import numpy, torch",
    "import transformers, accelerate",
    "import torchvision",
    "from torchvision import transforms",
    "import numba\n\n\n@numba.njit\ndef f(): ...",
    "from . import flash_attn",
    "import my.flash_attn",
    "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import flash_attn",
    "text = 'import flash_attn'",
]


@pytest.mark.parametrize("code", SILENT)
def test_nothing_is_said(code: str) -> None:
    assert remarks(code) == []


SAID = [
    ("import flash_attn", "TW601", "manual", "flash-attn is not on the NPU, but there is a replacement"),
    ("from flash_attn.bert_padding import pad_input", "TW601", "manual", "flash-attn is not on the NPU"),
    ("import megatron.core", "TW601", "manual", "megatron-core needs an adaptor on the NPU"),
    ("import vllm", "TW601", "manual", "vllm needs a plugin on the NPU"),
    ("import bitsandbytes as bnb", "TW601", "manual", "bitsandbytes works on the NPU in part"),
    ("import triton.language as tl", "TW601", "manual", "triton has to be ported to the NPU"),
    ("import unsloth", "TW601", "blocked", "unsloth has no NPU counterpart"),
    ("from torchvision.ops import nms", "TW601", "manual", "torchvision.ops works on the NPU in part"),
    ("from torchvision import ops", "TW601", "manual", "torchvision.ops works on the NPU in part"),
    ("import cupy as cp", "TW604", "blocked", "cupy has no NPU counterpart"),
    ("from numba import cuda", "TW604", "blocked", "numba-cuda has no NPU counterpart"),
    ("import nvidia.dali.fn", "TW604", "blocked", "dali has no NPU counterpart"),
    ("import tensorrt", "TW604", "blocked", "tensorrt has no NPU counterpart"),
    ("import pynvml", "TW604", "blocked", "pynvml has no NPU counterpart"),
    ("import nvtx", "TW604", "manual", "nvtx is not on the NPU, but there is a replacement"),
    ("def f():\n    import pycuda.driver", "TW604", "blocked", "pycuda has no NPU counterpart"),
]


@pytest.mark.parametrize(("code", "number", "outcome", "title"), SAID)
def test_what_is_said(code: str, number: str, outcome: str, title: str) -> None:
    (found,) = remarks(code)
    assert (found.number, found.outcome) == (number, outcome)
    assert found.title.startswith(title)
    assert found.advice.endswith(".")
    assert found.evidence
    assert found.minutes > 0


def test_a_guarded_import_is_a_note() -> None:
    (found,) = remarks("try:\n    import cupy\nexcept ImportError:\n    cupy = None\n")
    assert (found.outcome, found.minutes) == ("note", 0)
    assert "guarded" in found.detail


def test_one_remark_for_a_statement_with_many_names() -> None:
    code = "from flash_attn import flash_attn_func, flash_attn_varlen_func\nimport os, cupy, pynvml\n"
    assert [found.name for found in remarks(code)] == ["flash_attn.flash_attn_func", "cupy", "pynvml"]


def test_one_remark_for_a_file_at_the_import_that_decides() -> None:
    code = "try:\n    import cupy\nexcept ImportError: ...\n"
    code += "def f():\n    import cupy\nimport cupy.cuda\nimport flash_attn\n"
    first, second = remarks(code)
    assert (first.name, first.outcome, first.detail) == ("cupy.cuda", "blocked", "It is imported again in lines 2, 5.")
    assert second.name == "flash_attn"
    (triton,) = remarks("import triton\nimport triton.language as tl\n")
    assert triton.detail.endswith("It is imported again in line 2.")


def test_version_and_package_are_named() -> None:
    (found,) = remarks("import mmcv")
    assert "from version 2.2.0" in found.detail
    (found,) = remarks("import vllm")
    assert "vllm-ascend" in found.detail
    (found,) = remarks("import grouped_gemm")
    assert "torch_npu.npu_grouped_matmul" in found.detail


@pytest.mark.parametrize("path", ["warp/tools/run.py", "lib/run.py"])
def test_a_package_of_the_project_is_no_library(path: str) -> None:
    names = {"warp/tools/run.py": "warp.core", "lib/run.py": "lib.warp"}
    project = merged([Facts(path="x.py", language="python", module=names[path])])
    assert remarks("import warp", path=path, project=project) == []
    assert len(remarks("import warp", path="elsewhere/run.py")) == 1


def test_numba_is_judged_by_its_use() -> None:
    code = "import numba\n\n\n@numba.cuda.jit\ndef kernel(x): ...\n\n\n@numba.njit\ndef host(x): ...\n"
    (found,) = remarks(code)
    assert (found.number, found.outcome, found.name) == ("TW604", "blocked", "numba.cuda.jit")
    assert len(remarks("from numba import cuda\n\n\n@cuda.jit\ndef kernel(x): ...\n")) == 1


@pytest.mark.parametrize("entry", libraries(), ids=lambda entry: entry.name)
def test_every_library_of_the_table_is_told_or_native(entry: object) -> None:
    for name in entry.imports:  # type: ignore[attr-defined]
        found = remarks(f"from {name} import x" if "." in name else f"import {name}")
        assert len(found) == (entry.status != "native"), name  # type: ignore[attr-defined]


ADVICE = [
    ("from flashinfer.fused_moe import QuantFormat", "npu_grouped_matmul"),
    ("from flashinfer import trtllm_fp4_block_scale_routed_moe", "npu_grouped_matmul"),
    ("from flashinfer.gemm import mm_bf16", "torch.matmul"),
    ("from flashinfer.norm import gemma_rmsnorm", "npu_rms_norm"),
    ("from flashinfer import fp4_quantize", "npu_dynamic_quant"),
    ("import flashinfer.comm as comm", "hccl"),
    ("from flashinfer import BatchPrefillWithRaggedKVCacheWrapper", "npu_fusion_attention"),
    ("import flashinfer\nflashinfer.norm.rmsnorm(x)", "npu_rms_norm"),
    ("from flashinfer.autotuner import autotune", "leave it out"),
    ("import scaled_masked_softmax_cuda", "npu_scaled_masked_softmax"),
    ("import syncbn", "SyncBatchNorm"),
]


@pytest.mark.parametrize(("code", "word"), ADVICE)
def test_the_advice_is_that_for_what_is_used(code: str, word: str) -> None:
    (remark,) = remarks(code)
    assert word.lower() in remark.advice.lower()
