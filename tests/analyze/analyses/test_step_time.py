"""The step breakdown against hand-worked steps and against what the Ascend profiler says about real ranks."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.analyze.make_run import RankBuilder, make_run
from trainwright.analyze.analyses.scheduling import ANALYSIS as SCHEDULING
from trainwright.analyze.analyses.step_time import ANALYSIS as STEP_TIME
from trainwright.analyze.work import spans_of, work_of
from trainwright.core.result import Result
from trainwright.trace.ingest import open_run
from trainwright.trace.store import RankStore


def analyze(rank: RankStore) -> tuple[Result, Result]:
    assert STEP_TIME.per_rank is not None
    assert SCHEDULING.per_rank is not None
    return STEP_TIME.per_rank(rank), SCHEDULING.per_rank(rank)


def check_identities(rank: RankStore) -> list[dict[str, object]]:
    """Parts add up to the step, to the nanosecond, and causes to the idle time; the rows."""
    times, causes = analyze(rank)
    rows = times.table("step_time").records()
    for row in rows:
        number = {key: value for key, value in row.items() if isinstance(value, int)}
        parts = number["computing_ns"] + number["not_overlapped_ns"] + number["free_ns"]
        assert parts == number["stage_ns"] + number["bubble_ns"]
        assert parts + number["preparing_ns"] + number["tail_ns"] == number["total_ns"]
        assert number["communication_ns"] == number["overlapped_ns"] + number["not_overlapped_ns"]
        assert 0 <= number["memcpy_ns"] <= number["free_ns"]
        idle = [cause for cause in causes.table("scheduling").records() if cause["step"] == row["step"]]
        assert sum(int(str(cause["ns"])) for cause in idle) == row["free_ns"]
    assert len({row["step"] for row in rows}) == len(rows)
    work = work_of(rank)
    for name, tasks in (("computing_ns", work.compute), ("communication_ns", work.comm)):
        assert sum(int(str(row[name])) for row in rows) == spans_of(rank, tasks).measure  # once each, none lost
    return rows


def test_a_step_worked_out_by_hand(tmp_path: Path) -> None:
    builder = (
        RankBuilder(0)
        .step(3, 0, 200)
        .device("gemm", 20, 50)
        .device("gemm", 40, 60, stream=8)
        .comm("all_reduce", 55, 90, op="allreduce")
        .device("Memcpy", 95, 99, kind="memcpy")
        .device("gemm", 110, 120)
        .comm("recv", 120, 150, op="recv")
    )
    (row,) = check_identities(make_run([builder], tmp_path).ranks[0])
    assert row["computing_ns"] == 50
    assert row["communication_ns"] == 65
    assert row["overlapped_ns"] == 5
    assert row["free_ns"] == 20
    assert row["memcpy_ns"] == 4
    assert row["bubble_ns"] == 30
    assert row["stage_ns"] == 100
    assert (row["preparing_ns"], row["tail_ns"], row["total_ns"]) == (20, 50, 200)


def test_a_task_across_a_border_is_cut_there(tmp_path: Path) -> None:
    builder = RankBuilder(0).step(1, 0, 100).step(2, 100, 200).device("late", 90, 130).device("next", 140, 150)
    first, second = check_identities(make_run([builder], tmp_path).ranks[0])
    assert (first["computing_ns"], first["preparing_ns"], first["tail_ns"], first["total_ns"]) == (10, 90, 0, 100)
    assert (second["computing_ns"], second["free_ns"], second["preparing_ns"]) == (40, 10, 0)
    assert (second["tail_ns"], second["total_ns"]) == (50, 100)
    assert (first["tasks"], second["tasks"]) == (1, 1)


def test_time_in_which_a_task_of_the_step_before_runs_is_not_idle(tmp_path: Path) -> None:
    """Steps of 1 ms; a product runs from 1.1 to 2.6 ms, a collective from 2.7 to 2.8 ms."""
    us = 1000
    builder = (
        RankBuilder(0)
        .step(1, 0, 1000 * us)
        .step(2, 1000 * us, 2000 * us)
        .step(3, 2000 * us, 3000 * us)
        .host("aten::mm", 0, 3000 * us, thread="busy")
        .device("gemm", 1100 * us, 2600 * us)
        .comm("ncclDevKernel_AllReduce", 2700 * us, 2800 * us)
    )
    rank = make_run([builder], tmp_path).ranks[0]
    rows = check_identities(rank)
    assert [(row["computing_ns"], row["not_overlapped_ns"], row["free_ns"]) for row in rows] == [
        (0, 0, 0),
        (900 * us, 0, 0),
        (600 * us, 100 * us, 100 * us),
    ]
    assert [(row["preparing_ns"], row["tail_ns"]) for row in rows] == [(0, 1000 * us), (100 * us, 0), (0, 200 * us)]
    (gap,) = analyze(rank)[1].table("scheduling").records()
    assert (gap["step"], gap["cause"], gap["ns"], gap["largest_at_ns"]) == (3, "host_launch", 100 * us, 600 * us)


def test_the_last_step_lasts_until_its_tasks_end(tmp_path: Path) -> None:
    builder = RankBuilder(0).step(1, 0, 100).device("a", 10, 150).device("b", 20, 30, stream=8)
    (row,) = check_identities(make_run([builder], tmp_path).ranks[0])
    assert (row["computing_ns"], row["tail_ns"], row["total_ns"]) == (140, 0, 150)


def test_a_task_longer_than_a_step_keeps_the_device_busy_in_all_of_it(tmp_path: Path) -> None:
    builder = RankBuilder(0).step(1, 0, 100).step(2, 100, 200).step(3, 250, 300).device("long", 50, 260)
    rows = check_identities(make_run([builder], tmp_path).ranks[0])
    # nothing starts between 200 and 250: step 2 runs on until step 3
    assert [(row["computing_ns"], row["free_ns"], row["total_ns"]) for row in rows] == [
        (50, 0, 100),
        (150, 0, 150),
        (10, 0, 50),
    ]


def test_what_runs_on_the_device_does_not_prove_that_the_host_was_busy(tmp_path: Path) -> None:
    """The profiler draws a range on the device's own track during the gap; the host recorded nothing."""
    builder = RankBuilder(0).step(1, 0, 100).device("a", 0, 20).comm("recv", 60, 100, op="recv")
    builder.device("forward", 0, 60, kind="annotation", stream=9)
    rank = make_run([builder], tmp_path).ranks[0]
    (gap,) = analyze(rank)[1].table("scheduling").records()
    assert (gap["cause"], gap["evidence"]) == ("unknown", "the host recorded nothing, before recv")


def test_a_source_with_communication_only_is_a_note(tmp_path: Path) -> None:
    run = make_run([RankBuilder(0).step(1, 0, 100).comm("recv", 60, 90, op="recv")], tmp_path)
    assert [note.code for note in analyze(run.ranks[0])[0].quality] == ["no-compute-tasks"]


def test_all_work_outside_the_marks_is_one_row(tmp_path: Path) -> None:
    """Stretches 10-100, 200-250 and, between the steps, 300-310; the gaps before 120 and after 90 stay apart."""
    builder = RankBuilder(0).step(1, 100, 200).device("before", 10, 20).device("in", 110, 120).device("late", 80, 90)
    builder.step(2, 310, 400).device("between", 210, 250).device("again", 300, 305).device("in", 320, 330)
    rank = make_run([builder], tmp_path).ranks[0]
    rows = check_identities(rank)
    assert [(row["step"], row["computing_ns"], row["tasks"]) for row in rows] == [(1, 10, 1), (2, 10, 1), (None, 65, 4)]
    outside = rows[-1]
    # 10-100: free 60, tail 10; 200-310: preparing 10, free 50, tail 5
    assert (outside["free_ns"], outside["preparing_ns"], outside["tail_ns"], outside["total_ns"]) == (110, 10, 15, 200)
    assert outside["start_ns"] == 10
    times, causes = analyze(rank)
    (note,) = times.quality
    assert (note.code, note.count) == ("outside-steps", 2)
    (gap,) = [row for row in causes.table("scheduling").records() if row["step"] is None]
    assert (gap["ns"], gap["intervals"], gap["largest_ns"], gap["largest_at_ns"]) == (110, 2, 60, 10)


def test_steps_without_marks_are_found_by_repetition_hta_238(tmp_path: Path) -> None:
    builder = RankBuilder(0)
    for step in range(5):
        at = 1000 * step
        for layer in range(4):
            builder.device("layer", at + 20 * layer, at + 20 * layer + 15)
        builder.device("adam", at + 100, at + 130)
    run = make_run([builder], tmp_path)
    rows = check_identities(run.ranks[0])
    assert [row["origin"] for row in rows] == ["periodic"] * 5
    assert [row["computing_ns"] for row in rows] == [90] * 5
    assert [note.code for note in analyze(run.ranks[0])[0].quality] == ["steps-by-period"]


def test_steps_that_do_not_repeat_become_one_synthetic_step(tmp_path: Path) -> None:
    run = make_run([RankBuilder(0).device("a", 10, 20).device("b", 30, 50)], tmp_path)
    (row,) = check_identities(run.ranks[0])
    assert (row["origin"], row["computing_ns"], row["free_ns"]) == ("whole", 30, 10)


def test_each_cause_of_idle_time_is_told_by_its_evidence(tmp_path: Path) -> None:
    builder = (
        RankBuilder(0)
        .step(1, 0, 1000)
        .device("k0", 0, 100)
        .host("gc.collect", 100, 200, kind="gc")
        .host("cudaLaunchKernel", 250, 260, kind="runtime", link=1)
        .device("k1", 270, 300, link=1)
        .host("cudaStreamSynchronize", 280, 330, kind="runtime")
        .host("cudaLaunchKernel", 350, 360, kind="runtime", link=2)
        .device("k2", 360, 400, link=2)
        .host("cudaLaunchKernel", 380, 390, kind="runtime", link=3)
        .device("k3", 405, 450, link=3)
        .host("cudaMalloc", 450, 500, kind="runtime")
        .host("cudaLaunchKernel", 500, 505, kind="runtime", link=4)
        .device("k4", 505, 600, link=4)
    )
    rank = make_run([builder], tmp_path).ranks[0]
    check_identities(rank)
    causes = {row["cause"]: row["ns"] for row in analyze(rank)[1].table("scheduling").records()}
    # gaps: 100-270 (gc 100, nothing recorded 50, launch 20), 300-360 (a sync emptied the queue: 50, launch 10),
    # 400-405 (already launched), 450-505 (allocation 50, launch 5)
    assert causes == {
        "gc": 100,
        "unknown": 50,
        "synchronisation": 50,
        "host_launch": 35,
        "device_queue": 5,
        "allocator": 50,
    }


def causes_of(builder: RankBuilder, folder: Path) -> dict[object, object]:
    """Time by cause between the tasks of a rank."""
    rank = make_run([builder], folder).ranks[0]
    check_identities(rank)
    return {row["cause"]: row["ns"] for row in analyze(rank)[1].table("scheduling").records()}


def test_a_run_without_a_device_launches_nothing(tmp_path: Path) -> None:
    """Idle there is time between operators; nothing is said of a device that is not there."""
    builder = RankBuilder(0).step(1, 0, 100).host("loss.backward", 0, 100, kind="python")
    builder.host("aten::mm", 10, 40).host("aten::add", 60, 70)
    assert causes_of(builder, tmp_path) == {"outside_operators": 20}


def test_a_launch_that_takes_long_while_nothing_is_queued_is_the_host(tmp_path: Path) -> None:
    """The call begins before the device runs dry at 100 and returns at 900; the kernel starts 10 later."""
    builder = RankBuilder(0).step(1, 0, 1000).host("cudaLaunchKernel", 0, 5, kind="runtime", link=1)
    builder.device("k1", 10, 100, link=1).host("cudaLaunchKernel", 90, 900, kind="runtime", link=2)
    assert causes_of(builder.device("k2", 910, 950, link=2), tmp_path) == {"host_launch": 800, "device_queue": 10}


def test_a_launch_that_blocks_on_a_full_queue_is_the_device(tmp_path: Path) -> None:
    """The same call, with 600 kernels of another stream launched before it that begin after its own."""
    builder = RankBuilder(0).step(1, 0, 2000).device("k1", 10, 100, link=1)
    for at in range(600):
        builder.host("cudaLaunchKernel", 0, 1, kind="runtime", link=10 + at, thread=str(at))
        builder.device("other", 1000 + at, 1001 + at, link=10 + at, stream=8)
    builder.host("cudaLaunchKernel", 90, 900, kind="runtime", link=2).device("k2", 910, 1000, link=2)
    assert causes_of(builder, tmp_path) == {"device_queue": 810}


def test_gaps_inside_a_launched_graph_are_the_device(tmp_path: Path) -> None:
    """One call launches both kernels and still runs between them."""
    builder = RankBuilder(0).step(1, 0, 200).host("cudaGraphLaunch", 5, 180, kind="runtime", link=1)
    builder.device("k1", 10, 50, link=1).device("k2", 80, 100, link=1)
    assert causes_of(builder, tmp_path) == {"device_queue": 30}


def test_a_host_that_waits_in_a_graph_call_is_not_late(tmp_path: Path) -> None:
    """No launch is recorded by link; the device shows from 20 on that the graph runs."""
    builder = RankBuilder(0).step(1, 0, 200).device("k0", 0, 5).host("Model@ModelExecute", 10, 150, kind="runtime")
    builder.device("EVENT_RECORD", 20, 21, kind="other").device("k1", 30, 50).device("k2", 80, 100)
    # 5-10: nothing recorded, 10-20: the call before the device shows anything, 20-30 and 50-80: the graph runs
    assert causes_of(builder, tmp_path) == {"unknown": 5, "host_launch": 10, "device_queue": 40}


def reported(folder: Path) -> dict[str, int]:
    """The row of ``step_trace_time.csv``, in ns."""
    with (folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").open(newline="") as file:
        (row,) = list(csv.DictReader(file))
    return {key: round(float(value) * 1000) for key, value in row.items() if key not in ("Step", "Device_id")}


@pytest.mark.shared_data
@pytest.mark.parametrize("level", ["level0", "level2"])
@pytest.mark.parametrize("rank", [0, 1])
def test_real_ascend_ranks_equal_their_own_step_trace_time(profiles: Path, level: str, rank: int) -> None:
    folder = profiles / "msinsight/pytorch_2rank/text" / level / f"rank{rank}_ascend_pt"
    (store,) = open_run([folder]).ranks
    (row,) = [row for row in check_identities(store) if row["step"] is not None]
    theirs = reported(folder)
    # the tool rounds every interval to a nanosecond of its own: at most half a ns for each of some hundred tasks;
    # stage and preparing are differences of epoch microseconds held in float64, whose step there is 250 ns
    grain = {"Stage": 250, "Preparing": 250}
    for ours, name in (
        ("computing_ns", "Computing"),
        ("not_overlapped_ns", "Communication(Not Overlapped)"),
        ("overlapped_ns", "Overlapped"),
        ("communication_ns", "Communication"),
        ("free_ns", "Free"),
        ("stage_ns", "Stage"),
        ("preparing_ns", "Preparing"),
    ):
        assert abs(int(str(row[ours])) - theirs[name]) <= grain.get(name, 100), name


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "path",
    [
        "hta/df_index_resolver",
        "kineto_tb",
        "param/dlrm_kineto",
        "made_cpu/pp4_balanced",
        "msinsight/_history",
        "tracelens/mi300",
    ],
)
def test_parts_add_up_on_real_ranks(profiles: Path, path: str) -> None:
    for rank in open_run([profiles / path]).ranks:
        check_identities(rank)


@pytest.mark.shared_data
def test_free_time_of_a_step_that_the_one_before_reaches_into(profiles: Path) -> None:
    """Step 16 of a real run: 0.663 ms without a kernel; a reduction of step 15 runs 2 ms into it."""
    (rank,) = open_run([profiles / "tracelens/mi300/resnet_act_checkpoint.json.gz"]).ranks
    (row,) = [row for row in check_identities(rank) if row["step"] == 16]
    assert row["free_ns"] == 662_522
    assert row["preparing_ns"] == 0


@pytest.mark.shared_data
def test_a_transfer_of_the_step_before_is_no_evidence_of_the_host(profiles: Path) -> None:
    for rank in open_run([profiles / "mindinsight/cluster_propose"]).ranks:
        rows = check_identities(rank)
        assert [row["preparing_ns"] for row in rows if row["step"] == 1] == [0]
        causes = analyze(rank)[1]
        for table in ("scheduling", "scheduling_edges"):
            assert set(causes.table(table).column("cause")) == {"unknown"}


@pytest.mark.shared_data
def test_a_launch_of_a_second_and_a_half_is_the_host(profiles: Path) -> None:
    run = open_run([profiles / "kineto_tb"])
    (rank,) = [rank for rank in run.ranks if "autograd_api" in rank.unit.path.name]
    rows = {row["cause"]: row for row in analyze(rank)[1].table("scheduling").records()}
    assert str(rows["host_launch"]["evidence"]).startswith("cudaLaunchKernel (1.565 s)")
    assert int(str(rows["device_queue"]["largest_ns"])) < 100_000


@pytest.mark.shared_data
def test_a_graph_that_mindspore_runs_is_not_host_bound(profiles: Path) -> None:
    (rank,) = [rank for rank in open_run([profiles / "mindinsight/profiler"]).ranks if rank.rank == 0]
    for table in ("scheduling", "scheduling_edges"):
        assert set(analyze(rank)[1].table(table).column("cause")) <= {"device_queue", "unknown"}
