"""Which operator launched which device task, through every way that sources tell it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.calls import calls_of, nearest, outermost
from trainwright.trace.store import RankStore


def launchers(rank: RankStore) -> dict[str, str | None]:
    """Name of the launching operator by name of the device task."""
    calls = calls_of(rank)
    names, texts = rank.column("slices", "name"), rank.texts("slices", "name")
    return {
        texts[names[task]]: texts[names[calls.rows[op]]] if op >= 0 else None
        for task, op in zip(calls.task_rows.tolist(), calls.task_op.tolist(), strict=True)
    }


def test_the_operator_id_counts_before_the_link(tmp_path: Path) -> None:
    builder = RankBuilder().host("aten::mm", 0, 10, external_id=4).host("aten::add", 20, 30, external_id=5)
    builder.host("cudaLaunchKernel", 22, 24, kind="runtime", link=9).device("gemm", 40, 50, external_id=4, link=9)
    assert launchers(builder.build(tmp_path)) == {"gemm": "aten::mm"}


def test_the_link_leads_to_the_innermost_operator(tmp_path: Path) -> None:
    builder = RankBuilder().host("aten::linear", 0, 20).host("aten::addmm", 2, 18)
    builder.host("frame", 3, 17, kind="python").host("cudaLaunchKernel", 5, 8, kind="runtime", link=1)
    builder.device("gemm", 30, 40, link=1, external_id=77).device("copy", 40, 41, kind="memcpy", link=2)
    assert launchers(builder.build(tmp_path)) == {"gemm": "aten::addmm", "copy": None}


def test_an_id_that_only_an_annotation_has_does_not_count(tmp_path: Path) -> None:
    builder = RankBuilder().host("forward", 0, 20, kind="annotation", external_id=3).host("aten::mm", 1, 10)
    builder.host("cudaLaunchKernel", 2, 4, kind="runtime", link=1).device("gemm", 30, 40, link=1, external_id=3)
    assert launchers(builder.build(tmp_path)) == {"gemm": "aten::mm"}


def test_a_launch_on_a_queue_thread_leads_back_to_the_producer(tmp_path: Path) -> None:
    builder = RankBuilder().host("aten::mul", 0, 10).host("Enqueue@aclnnMul", 2, 4, kind="queue", link=100)
    builder.host("Dequeue@aclnnMul", 20, 30, kind="queue", thread="acl", link=100)
    builder.host("launch", 22, 25, kind="runtime", thread="acl", link=7).device("Mul", 40, 45, link=7)
    assert launchers(builder.build(tmp_path)) == {"Mul": "aten::mul"}


def test_device_time_is_summed_up_the_tree(tmp_path: Path) -> None:
    builder = RankBuilder().host("outer", 0, 20, external_id=1).host("inner", 2, 8, external_id=2)
    builder.device("a", 30, 33, external_id=1).device("b", 33, 40, external_id=2).device("c", 40, 50, external_id=2)
    calls = calls_of(builder.build(tmp_path))
    assert calls.parent.tolist() == [-1, 0]
    assert calls.device_ns.tolist() == [3, 17]
    assert calls.device_total_ns.tolist() == [20, 17]


def test_waits_and_link_tasks_are_not_device_work(tmp_path: Path) -> None:
    builder = RankBuilder().device("k", 0, 1).device("wait", 1, 5, kind="sync").comm("ar", 2, 9)
    builder.comm_task("hop", 3, 4, src=0, dst=1).comm("gloo:all_reduce", 0, 90, thread="gloo")
    assert set(launchers(builder.build(tmp_path))) == {"k", "ar"}


def test_nearest_finds_the_innermost_wanted_around_each() -> None:
    parent = np.array([-1, 0, 1, 2, -1])
    wanted = np.array([False, True, False, False, False])
    assert nearest(parent, wanted).tolist() == [-1, 1, 1, 1, -1]


def test_outermost_leaves_out_recursion_at_any_depth() -> None:
    parent = np.array([-1, 0, 1, 2, -1])
    key = np.array([7, 8, 7, 8, 7])
    assert outermost(parent, key).tolist() == [True, True, False, False, True]


def test_a_rank_without_slices_has_no_calls(tmp_path: Path) -> None:
    calls = calls_of(RankBuilder().build(tmp_path))
    assert len(calls.rows) == len(calls.task_rows) == len(calls.device_ns) == 0
