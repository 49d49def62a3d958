"""Device tasks by name, type and shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.kernels import analyze
from trainwright.trace.ingest import open_run


def example() -> RankBuilder:
    builder = RankBuilder(1).host("aten::mm", 0, 10, external_id=1, shapes="[[8,8]]")
    builder.device("MatMul_1", 0, 7, op_type="MatMulV2", core_type="AI_CORE", shapes="[[4,4]]")
    builder.device("MatMul_1", 10, 14, op_type="MatMulV2", core_type="AI_CORE", external_id=1)
    builder.device("volta_sgemm_128x32_nt", 14, 15, external_id=1, stream=9)
    builder.device("Memcpy HtoD", 20, 22, kind="memcpy").comm("hcom_allReduce_", 30, 60).comm_task("hop", 31, 40)
    return builder.device("Notify_Wait", 40, 90, kind="sync")


def test_by_name(tmp_path: Path) -> None:
    table = analyze(example().build(tmp_path)).table("kernels")
    assert table.rows == [
        (1, "hcom_allReduce_", "communication", None, 1, 30, 30, 30, 30, 30 / 44),
        (1, "MatMul_1", "MatMulV2", "AI_CORE", 2, 11, 4, 7, 6, 11 / 44),
        (1, "Memcpy HtoD", "memory copy", None, 1, 2, 2, 2, 2, 2 / 44),
        (1, "volta_sgemm_128x32_nt", "matmul", None, 1, 1, 1, 1, 1, 1 / 44),
    ]


def test_by_type(tmp_path: Path) -> None:
    rows = analyze(example().build(tmp_path)).table("kernel_types").rows
    assert [row[:5] for row in rows] == [
        (1, "communication", None, 1, 30),
        (1, "MatMulV2", "AI_CORE", 2, 11),
        (1, "memory copy", None, 1, 2),
        (1, "matmul", None, 1, 1),
    ]


def test_shapes_of_the_task_count_before_those_of_its_operator(tmp_path: Path) -> None:
    rows = analyze(example().build(tmp_path)).table("kernel_shapes").rows
    assert [row[:5] for row in rows] == [
        (1, "hcom_allReduce_", None, 1, 30),
        (1, "MatMul_1", "[[4,4]]", 1, 7),
        (1, "MatMul_1", "[[8,8]]", 1, 4),
        (1, "Memcpy HtoD", None, 1, 2),
        (1, "volta_sgemm_128x32_nt", "[[8,8]]", 1, 1),
    ]


def test_all_tables_add_up_to_the_device_tasks(tmp_path: Path) -> None:
    result = analyze(example().build(tmp_path))
    assert [sum(table.column("total_ns")) for table in result.tables] == [44, 44, 44]
    assert [sum(table.column("count")) for table in result.tables] == [5, 5, 5]


def test_without_shapes_there_are_no_rows_by_shapes(tmp_path: Path) -> None:
    assert analyze(RankBuilder().device("k", 0, 1).build(tmp_path)).table("kernel_shapes").rows == []


def test_communication_is_one_type_whatever_the_source_calls_it(tmp_path: Path) -> None:
    """Ascend writes ``hcom_allReduce_`` for an operator, ``communication`` for its kernel, or nothing."""
    builder = RankBuilder().comm("hcom_allReduce__865_0_1", 0, 10).device("hcom", 20, 25, op_type="hcom_allReduce_")
    builder.device("hcomAicpuInit", 30, 33, op_type="Communication").device("m", 40, 44, op_type="MatMulV2")
    builder.device("hcom_send__1", 50, 52, kind="comm", op_type="hcom_send_")
    rows = analyze(builder.build(tmp_path)).table("kernel_types").records()
    assert [(row["op_type"], row["count"], row["total_ns"]) for row in rows] == [
        ("communication", 4, 20),
        ("MatMulV2", 1, 4),
    ]


@pytest.mark.shared_data
@pytest.mark.parametrize("form", ["db/level2", "text/level2"])
def test_real_ascend_ranks_have_one_type_of_communication(profiles: Path, form: str) -> None:
    for rank in open_run([profiles / "msinsight/pytorch_2rank" / form]).ranks:
        types = [str(kind) for kind in analyze(rank).table("kernel_types").column("op_type")]
        assert [kind for kind in types if "hcom" in kind.lower() or "commun" in kind.lower()] == ["communication"]


@pytest.mark.shared_data
def test_a_trace_of_2021(profiles: Path) -> None:
    """The totals that were read from the file by hand: 591 ms of kernels, 158 ms of them convolution gradients."""
    path = profiles / "kineto_tb" / "resnet50_num_workers_0.worker0.1623143566756.pt.trace.json.gz"
    rows = analyze(open_run([path]).ranks[0]).table("kernels").records()
    kernels = [row for row in rows if row["op_type"] not in ("memory copy", "memory fill")]
    assert round(sum(row["total_ns"] for row in kernels) / 1e6) == 591
    gradients = [row["total_ns"] for row in kernels if "dgrad" in row["name"] or "wgrad" in row["name"]]
    assert round(sum(gradients) / 1e6) == 158
