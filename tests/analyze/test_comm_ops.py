"""Communication operators: what they are called, how large their group is, what carried them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.communication import analyze as communication
from trainwright.analyze.comm_ops import bus_factor, comm_ops, group_members, transports
from trainwright.analyze.work import work_of


def test_sends_and_receives_are_named_by_the_host_range_around_their_launch(tmp_path: Path) -> None:
    builder = RankBuilder().host("nccl:all_to_all", 0, 10, kind="annotation")
    builder.host("cudaLaunchKernel", 2, 4, kind="runtime", link=1)
    builder.host("nccl:send", 20, 30, kind="annotation").host("cudaLaunchKernel", 22, 24, kind="runtime", link=2)
    builder.comm("ncclKernel_SendRecv", 50, 60, op="sendrecv", link=1)
    builder.comm("ncclKernel_SendRecv", 60, 70, op="sendrecv", link=2)
    builder.comm("ncclKernel_SendRecv", 70, 80, op="sendrecv").comm("ncclDevKernel_Generic", 80, 90, op=None)
    ops = comm_ops(builder.build(tmp_path))
    assert ops.op.at(ops.op.codes) == ["alltoall", "send", "sendrecv", None]


def test_sends_and_receives_of_unknown_purpose_are_no_transfers_where_all_others_are_collectives(
    tmp_path: Path,
) -> None:
    builder = RankBuilder().host("nccl:all_to_all", 0, 10, kind="annotation")
    builder.host("cudaLaunchKernel", 2, 4, kind="runtime", link=1)
    builder.comm("ncclKernel_SendRecv", 40, 50, op="sendrecv", link=9)  # launched before the recording began
    builder.comm("ncclKernel_SendRecv", 50, 60, op="sendrecv", link=1)
    rank = builder.build(tmp_path)
    ops = comm_ops(rank)
    assert ops.op.at(ops.op.codes) == [None, "alltoall"]
    assert work_of(rank).p2p.tolist() == []
    result = communication(rank)
    assert sorted(result.table("communication").column("op"), key=str) == [None, "alltoall"]
    assert [(note.code, note.count) for note in result.quality] == [("operator-unknown", 1)]


def test_sends_and_receives_without_any_host_are_what_their_name_says(tmp_path: Path) -> None:
    rank = RankBuilder().comm("ncclKernel_SendRecv", 40, 50, op="sendrecv", link=9).build(tmp_path)
    ops = comm_ops(rank)
    assert ops.op.at(ops.op.codes) == ["sendrecv"]
    assert len(work_of(rank).p2p) == 1


def test_a_clear_name_is_kept(tmp_path: Path) -> None:
    builder = RankBuilder().host("nccl:coalesced", 0, 10, kind="annotation")
    builder.host("launch", 2, 4, kind="runtime", link=1).comm("AllGather", 50, 60, op="allgather", link=1)
    ops = comm_ops(builder.build(tmp_path))
    assert ops.op.at(ops.op.codes) == ["allgather"]


def test_group_size_comes_from_the_operator_then_from_the_group(tmp_path: Path) -> None:
    builder = RankBuilder().row("groups", group="tp", name="tp", size=4, ranks="[0, 1, 2, 3]")
    builder.row("groups", group="dp", size=2, ranks=None)
    for start, (group, size) in enumerate((("tp", 8), ("tp", -1), ("dp", -1), ("pp", -1), (None, -1))):
        builder.comm("c", 10 * start, 10 * start + 5, group=group, group_size=size)
    rank = builder.build(tmp_path)
    assert comm_ops(rank).group_size.tolist() == [8, 4, 2, -1, -1]
    assert group_members(rank) == {"tp": (0, 1, 2, 3)}


@pytest.mark.parametrize(
    ("op", "ranks", "factor"),
    [
        ("allreduce", 4, 1.5),
        ("allgather", 4, 0.75),
        ("reducescatter", 8, 0.875),
        ("alltoall", 2, 0.5),
        ("broadcast", 8, 1.0),
        ("send", -1, 1.0),
        ("allreduce", -1, None),
        (None, 8, None),
    ],
)
def test_bus_factors_are_those_of_nccl_tests(op: str | None, ranks: int, factor: float | None) -> None:
    assert bus_factor(op, ranks) == factor


def test_transports_are_found_by_group_and_time(tmp_path: Path) -> None:
    builder = RankBuilder().comm("a", 0, 100, group="tp").comm("b", 50, 150, group="dp", stream=21)
    builder.comm("c", 200, 300, group="tp")
    builder.comm_task("hop", 10, 20, group="tp", transport="HCCS", bytes=100)
    builder.comm_task("hop", 60, 70, group="tp", transport="SDMA", bytes=300)
    builder.comm_task("hop", 60, 70, group="dp", transport="RDMA", bytes=5, plane="Plane 1")
    builder.comm_task("hop", 160, 170, group="tp", transport="PCIE", bytes=5)  # between the operators of its group
    rank = builder.build(tmp_path)
    assert transports(rank, comm_ops(rank)) == ["SDMA, HCCS", "RDMA", None]
