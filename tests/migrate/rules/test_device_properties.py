"""Properties an NPU has stay, those it has not are named; capability is never renamed."""

from __future__ import annotations

from tests.migrate.python.check import migrated, remarks_of
from trainwright.migrate.rules.device_properties import RULE


def names(code: str) -> list[str]:
    return [remark.name for remark in remarks_of(code, RULE) if remark.outcome == "manual"]


def test_known_properties_move_silently() -> None:
    code = "import torch\nm = torch.cuda.get_device_properties(0).total_memory\n"
    assert names(code) == []
    assert migrated(code, RULE) == code.replace("cuda", "npu")


def test_missing_properties_are_named_through_a_variable() -> None:
    code = "import torch\np = torch.cuda.get_device_properties(0)\nprint(p.name, p.multi_processor_count, p.major)\n"
    assert names(code) == ["major", "multi_processor_count"]
    assert migrated(code, RULE, unsafe=True) == code


def test_capability_is_left_to_a_person() -> None:
    code = "import torch\nmajor, minor = torch.cuda.get_device_capability()\n"
    assert names(code) == ["torch.cuda.get_device_capability"]
    (found,) = remarks_of(code, RULE)
    assert found.detail.startswith("This call raises without CUDA; that of torch.npu returns None")
    assert migrated(code, RULE, unsafe=True) == code
