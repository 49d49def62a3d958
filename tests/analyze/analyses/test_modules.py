"""Modules: paths, host time, device time of the forward and of the backward pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.modules import analyze


def records(builder: RankBuilder, tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Rows by module."""
    return {row["module"]: row for row in analyze(builder.build(tmp_path)).table("modules").records()}


def test_nested_python_modules_give_the_path(tmp_path: Path) -> None:
    builder = RankBuilder().host("nn.Module: Net_0", 0, 100, kind="python").host("forward", 5, 95, kind="python")
    builder.host("nn.Module: Linear_0", 10, 40, kind="python").host("nn.Module: Linear_1", 50, 70, kind="python")
    builder.host("aten::mm", 12, 20, external_id=1).host("aten::mm", 52, 60, external_id=2)
    builder.host("aten::add", 80, 85, external_id=3)
    builder.device("a", 200, 205, external_id=1).device("b", 205, 212, external_id=2).device(
        "c", 212, 213, external_id=3
    )
    found = records(builder, tmp_path)
    columns = ("count", "total_ns", "self_ns", "device_ns", "backward_device_ns", "origin")
    assert {name: tuple(row[key] for key in columns) for name, row in found.items()} == {
        "Net_0/Linear_1": (1, 20, 20, 7, 0, "python"),
        "Net_0/Linear_0": (1, 30, 30, 5, 0, "python"),
        "Net_0": (1, 100, 50, 1, 0, "python"),
    }


def test_backward_time_goes_to_the_module_of_the_forward_operator(tmp_path: Path) -> None:
    builder = RankBuilder().host("nn.Module: Linear_0", 10, 40, kind="python")
    builder.host("aten::linear", 11, 35, sequence=7).host("aten::addmm", 12, 20, sequence=7, external_id=1)
    builder.host("nn.Module: Loss_0", 50, 60, kind="python").host("aten::mse_loss", 51, 59, sequence=8)
    backward: dict[str, Any] = {"thread": "autograd", "fwd_thread": 1}
    builder.host("evaluate: AddmmBackward0", 100, 150, sequence=7, **backward)
    builder.host("aten::mm", 110, 120, thread="autograd", external_id=2, sequence=8)  # counted on its own thread
    builder.device("forward", 200, 203, external_id=1).device("backward", 300, 311, external_id=2)
    found = records(builder, tmp_path)
    assert found["Linear_0"]["device_ns"] == 3
    assert found["Linear_0"]["backward_device_ns"] == 11
    assert found["Linear_0"]["backward_self_ns"] == 50  # [100, 150) with the operator inside
    assert found["Loss_0"]["backward_device_ns"] == 0


def test_a_number_shared_with_an_operator_outside_modules_is_not_followed_into_one(tmp_path: Path) -> None:
    """Operators that need no gradient carry the number of the next one that does."""
    builder = RankBuilder().host("zero_grad", 0, 20, kind="annotation").host("aten::zero_", 5, 10, sequence=7)
    builder.host("aten::addmm", 30, 40, sequence=7)
    builder.host("AddmmBackward0", 50, 60, sequence=7, fwd_thread=1, external_id=1).device("k", 70, 80, external_id=1)
    assert records(builder, tmp_path)["zero_grad"]["backward_device_ns"] == 0


def test_a_task_launched_outside_operators_belongs_to_the_module_of_its_call(tmp_path: Path) -> None:
    builder = RankBuilder().host("nn.Module: Sampler_0", 0, 50, kind="python")
    builder.host("cudaGraphLaunch", 10, 20, kind="runtime", link=5)
    builder.device("a", 100, 104, link=5).device("b", 104, 110, link=5)
    assert records(builder, tmp_path)["Sampler_0"]["device_ns"] == 10


def test_recursion_counts_once_in_total(tmp_path: Path) -> None:
    builder = RankBuilder().host("a", 0, 50, kind="annotation").host("b", 10, 40, kind="annotation")
    builder.host("nccl:all_reduce", 12, 20, kind="annotation")
    found = records(builder, tmp_path)
    assert {name: (row["total_ns"], row["self_ns"]) for name, row in found.items()} == {"a": (50, 20), "a/b": (30, 30)}


def test_recorded_module_paths_come_first(tmp_path: Path) -> None:
    builder = RankBuilder().host("range", 0, 100, kind="annotation")
    builder.host("aten::linear", 10, 40, module="top.fc", external_id=9).host(
        "aten::mm", 12, 30, module="top.fc", external_id=1
    )
    builder.host("aten::relu", 50, 60, module="top", external_id=2)
    builder.device("a", 100, 105, external_id=1).device("b", 105, 107, external_id=2)
    found = records(builder, tmp_path)
    assert {name: (row["count"], row["total_ns"], row["device_ns"]) for name, row in found.items()} == {
        "top.fc": (1, 30, 5),
        "top": (1, 10, 2),
    }
    assert found["top"]["origin"] == "module path"


def test_without_modules_there_are_no_rows(tmp_path: Path) -> None:
    assert records(RankBuilder().host("aten::mm", 0, 5), tmp_path) == {}
