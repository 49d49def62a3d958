"""Names on the NPU side."""

from __future__ import annotations

import re

import pytest

from trainwright.knowledge.environment import variables
from trainwright.knowledge.libraries import libraries
from trainwright.knowledge.surface import npu_name_exists
from trainwright.knowledge.tables import read_rows
from trainwright.migrate.rule import RULES, Rule

THERE = [
    "torch.npu",
    "torch_npu",
    "torch.npu.Event",
    "torch.npu.synchronize",
    "torch.npu.NPUGraph",
    "torch.npu.amp.GradScaler",
    "torch.npu.memory._snapshot",
    "torch.npu.mstx.range_start",
    "torch.npu.random",
    "torch.npu.backends.fft_plan_cache.clear",
    "torch.ops.npu.npu_fusion_attention",
    "torch_npu.npu.Stream",
    "torch_npu.npu_fusion_attention",
    "torch_npu.npu_rms_norm",
    "torch_npu.contrib.transfer_to_npu",
    "torch_npu.optim.NpuFusedAdamW",
    "torch_npu.profiler.profile",
    "torch_npu.profiler.profile.step",
    "torch_npu.utils.cpp_extension.NpuExtension",
]
NOT_THERE = [
    "torch.npu.CUDAGraph",
    "torch.npu.nvtx",
    "torch.npu.nvtx.range_push",
    "torch.npu.comm.scatter",
    "torch.npu.nccl",
    "torch.npu.get_arch_list",
    "torch.npu._sleep",
    "torch.npu.npu_fusion_attention",
    "torch.ops.npu.flash_attention",
    "torch_npu.flash_attention",
    "torch.cuda.synchronize",
    "torch.nn.Linear",
    "npu_fusion_attention",
]


@pytest.mark.parametrize("name", THERE)
def test_a_name_that_exists(name: str) -> None:
    assert npu_name_exists(name)


@pytest.mark.parametrize("name", NOT_THERE)
def test_a_name_that_does_not_exist(name: str) -> None:
    assert not npu_name_exists(name)


def test_every_name_the_support_table_gives_exists() -> None:
    given = {row[1] for row in read_rows("api_support.tsv") if row[1].startswith(("torch_npu.", "torch.npu."))}
    assert len(given) > 70
    assert [name for name in sorted(given) if not npu_name_exists(name)] == []


def test_every_replacement_of_a_library_exists() -> None:
    given = {entry.replacement_import for entry in libraries()}
    own = [name for name in given if name.startswith(("torch_npu.", "torch.npu."))]
    assert len(own) > 3
    assert [name for name in own if not npu_name_exists(name)] == []


def test_every_replacement_of_a_variable_is_one_of_the_npu() -> None:
    given = {variable.npu for variable in variables().values() if variable.npu}
    assert {name.split("_", 1)[0] for name in given} <= {"ASCEND", "HCCL", "PYTORCH", "TORCH"}
    assert all("NPU" in name or "HCCL" in name for name in given if name.startswith(("PYTORCH", "TORCH")))


@pytest.mark.parametrize("rule", list(RULES), ids=lambda rule: rule.code)
def test_every_name_in_the_example_of_a_rule_exists(rule: Rule) -> None:
    used = set(re.findall(r"\b(?:torch\.npu|torch_npu)(?:\.[A-Za-z_]\w*)+", rule.after))
    assert [name for name in sorted(used) if not npu_name_exists(name)] == []
