"""The table of environment variables."""

from __future__ import annotations

from typing import get_args

import pytest

from trainwright.knowledge.environment import npu_variable, variables
from trainwright.migrate.remark import Safety

KNOWN = [
    ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "safe"),
    ("CUDA_LAUNCH_BLOCKING", "ASCEND_LAUNCH_BLOCKING", "safe"),
    ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF", "safe"),
    ("NCCL_SOCKET_IFNAME", "HCCL_SOCKET_IFNAME", "safe"),
    ("NCCL_DEBUG", "", "display"),
    ("NCCL_NET_GDR_LEVEL", "", "display"),
    ("TORCH_NCCL_ENABLE_MONITORING", "TORCH_HCCL_ENABLE_MONITORING", "unsafe"),
    ("TORCH_NCCL_SOMETHING_NEW", "", "display"),
]


@pytest.mark.parametrize("name", ["PATH", "MASTER_ADDR", "GLOO_SOCKET_IFNAME", "MY_NCCL_DEBUG", "NCCL", ""])
def test_other_variables_are_not_known(name: str) -> None:
    assert npu_variable(name) is None


@pytest.mark.parametrize(("name", "npu", "safety"), KNOWN)
def test_the_counterpart_of_a_variable(name: str, npu: str, safety: str) -> None:
    found = npu_variable(name)
    assert found is not None
    assert (found.npu, found.safety) == (npu, safety)


def test_the_table_is_whole() -> None:
    for variable in variables().values():
        assert variable.safety in get_args(Safety), variable.name
        assert variable.note, variable.name
        assert variable.evidence, variable.name
        assert variable.npu or variable.safety == "display", variable.name
