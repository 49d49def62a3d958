"""msprof output, old and new: one rank per device, no event twice, iterations as steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trace.ascend_run import small_run
from tests.trace.make_ascend_db import write_tables
from tests.trace.read_source import find_in, read_source, rows_of
from trainwright.analyze.engine import analyze_run
from trainwright.core.errors import InputError
from trainwright.trace.discover import discover
from trainwright.trace.ingest import open_run
from trainwright.trace.msprof_layout import output_file
from trainwright.trace.readers.msprof import READER
from trainwright.trace.store import RankStore

STAMP = "20230818142812"
#: Old versions make process ids of the real one and a number; these say nothing of the device.
HARDWARE, HCCL, CANN = 3, 1003611, 1003602
OP_SUMMARY = (
    "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,"
    "Stream ID,Task ID,Input Shapes,Input Data Types,Input Formats\n"
    '0,Mul-op1,Mul,AI_CORE,"1736412474725417.508\t",20.5,1.25,32,2,4,"""2,3;4""",FLOAT,ND\n'
    '0,Cast-op2,Cast,AI_CPU,"1736412474725440.000\t",3,N/A,1,4,9,"""8""",INT64,ND\n'
    '0,hcom_allReduce__586_0_1,hcom_allReduce_,HCCL,"1736412474725450.250\t",7,0,0,N/A,N/A,N/A,N/A,N/A\n'
)


def labels(pid: int, process: str, **threads: str) -> list[dict[str, Any]]:
    """Labels of a process and of its threads (``t7="Stream 7"``)."""
    device = "CPU" if process == "CANN" else "NPU"
    return [
        {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": process}},
        {"name": "process_labels", "pid": pid, "tid": 0, "ph": "M", "args": {"labels": device}},
        *(
            {"name": "thread_name", "pid": pid, "tid": int(tid[1:]), "ph": "M", "args": {"name": label}}
            for tid, label in threads.items()
        ),
    ]


def event(
    name: str, pid: int, tid: int, ts: object, dur: object, cat: str | None = None, **args: Any
) -> dict[str, Any]:
    """A complete event; arguments with blanks in their names are written with ``_``."""
    found: dict[str, Any] = {"name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "ph": "X"}
    if cat:
        found["cat"] = cat
    if args:
        found["args"] = {key.replace("_", " "): value for key, value in args.items()}
    return found


def iteration(number: int, base: float) -> dict[str, list[dict[str, Any]]]:
    """The events of one iteration by the kind of file that shows them: 10 us of computing, 6 us of communication."""
    tasks = [
        *labels(HARDWARE, "Ascend Hardware", t2="Stream 2", t12="Stream 12"),
        event("Default/MatMul-op1", HARDWARE, 2, base + 1, 10, Task_Type="AI_CORE", Stream_Id=2, Task_Id=4),
        event("NOTIFY_WAIT", HARDWARE, 12, base + 12, 4, Task_Type="NOTIFY_WAIT", Stream_Id=12, Task_Id=2),
        event("EVENT_RECORD", HARDWARE, 2, base + 11, 0, Task_Type="EVENT_RECORD", Stream_Id=2, Task_Id=5),
    ]
    wait = {"stream id": 12, "task id": 2, "task type": "Notify_Wait", "src rank": 0, "dst rank": 4294967295,
            "transport type": "LOCAL", "size(Byte)": 64, "bandwidth(GB/s)": 0.5}  # fmt: skip
    comm = [
        *labels(HCCL, "HCCL", t0="Plane 0", t70000="Communication Kernel"),
        event("Default/AllReduce-op534_0", HCCL, 70000, base + 12, 6),
        {**event("Notify_Wait", HCCL, 0, base + 12, 4), "args": wait},
    ]
    row = event(f"Iteration {number}", HARDWARE, 10036, base, 20, "Iteration Time", Iteration_ID=number)
    steps = [
        {**row, "pid": 10036},
        {**event(f"FP_BP Time {number}", 10036, 10036, base + 1, 9, "FP_BP Time")},
    ]
    shown = [
        *labels(HARDWARE, "Ascend Hardware", t10036="Step Trace(Model ID:2)"),
        row,
        event(f"FP_BP Time {number}", HARDWARE, 10036, base + 1, 9, "FP_BP Time"),
    ]
    host = [*labels(CANN, "CANN", t16028="Thread 16028"), event("GE@Infer", CANN, 16028, base - 5, 30)]
    return {"task_time": tasks, "hccl": comm, "step_trace": steps, "msprof": host + shown + tasks + comm}


def old_profile(parent: Path, *, device: int = 0, whole: tuple[int, ...] = (1,), parts: tuple[int, ...] = ()) -> Path:
    """``PROF_*`` of an old version: iterations in `whole` have all files, those in `parts` lack the msprof timeline."""
    folder = parent / f"PROF_00000{device + 1}_{STAMP}_ABC"
    home = folder / f"device_{device}"
    (home / "timeline").mkdir(parents=True)
    numbers = sorted({*whole, *parts, 9})
    found = {number: iteration(number, 56635864652.5 + 100 * number) for number in numbers}
    step_trace = [each for number in numbers for each in found[number]["step_trace"]]
    labels_of_steps = labels(10036, "Step Trace", t10036="Model ID:2")
    for number in {*whole, *parts}:
        files = {**found[number], "step_trace": [*labels_of_steps, *step_trace]}
        if number in parts:
            del files["msprof"]
        for kind, events in files.items():
            (home / "timeline" / f"{kind}_{device}_2_{number}.json").write_text(json.dumps(events))
    info = {"hostname": "node7", "rank_id": device + 4, "devices": str(device)}
    (home / f"info.json.{device}").write_text(json.dumps(info))
    start = {"collectionTimeBegin": "1692340024324979", "clockMonotonicRaw": "56579931060630"}
    (home / f"start_info.{device}").write_text(json.dumps(start))
    (home / f"end_info.{device}.done").write_text("filesize:126\n")
    return folder


def new_profile(parent: Path, **files: str) -> Path:
    """``PROF_*`` of a new version with files in its output folder; ``__`` in a name stands for the dot."""
    folder = parent / "PROF_000001_20250109084748_XYZ"
    output = folder / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (folder / "host").mkdir()
    (folder / "device_0" / "data").mkdir(parents=True)
    (folder / "device_0" / "info.json.0").write_text(json.dumps({"hostname": "h", "rank_id": -1}))
    for name, text in files.items():
        stem, _, suffix = name.partition("__")
        (output / f"{stem}_{STAMP}.{suffix}").write_text(text)
    return folder


def read(folder: Path, store: Path) -> RankStore:
    """The only source of a folder or file."""
    (source,) = find_in(READER, folder).sources
    return read_source(READER, source, store)


@pytest.mark.parametrize(
    ("name", "kind", "device", "iteration"),
    [
        (f"op_summary_{STAMP}.csv", "op_summary", -1, -1),
        (f"msprof_slice_0_{STAMP}.json", "msprof", -1, -1),
        (f"msprof_{STAMP}_slice_1.json", "msprof", -1, -1),
        ("hccl_3_2_10.json", "hccl", 3, 10),
        ("l2_cache_0_1_1.csv", "l2_cache", 0, 1),
        (f"l2_cache_{STAMP}.csv", "l2_cache", -1, -1),
        ("op_summary_1.csv", "op_summary", 1, -1),
        ("op_summary_0.csv", "op_summary", 0, -1),
    ],
)
def test_file_names(name: str, kind: str, device: int, iteration: int) -> None:
    file = output_file(Path(name))
    assert file is not None
    assert (file.kind, file.device, file.iteration) == (kind, device, iteration)


def test_old_folder_is_one_rank_with_its_number(tmp_path: Path) -> None:
    folder = old_profile(tmp_path)
    (source,) = find_in(READER, folder).sources
    assert (source.path, source.rank, source.rank_origin) == (folder, 4, "metadata")
    assert {path.name for path in source.covers} == {"device_0"}
    assert {path.name for path in source.files} == {
        "hccl_0_2_1.json", "msprof_0_2_1.json", "step_trace_0_2_1.json", "task_time_0_2_1.json", "info.json.0",
        "start_info.0",
    }  # fmt: skip


def test_no_event_comes_twice(tmp_path: Path) -> None:
    rank = read(old_profile(tmp_path, whole=(1, 2)), tmp_path / "store")
    base = 56_635_864_652_500
    slices = sorted(rows_of(rank, "slices", "start_ns", "dur_ns", "name", "kind"))
    assert slices[:8] == [
        (base + 95_000, 30_000, "GE@Infer", "runtime"),
        (base + 100_000, 20_000, "Iteration 1", "step"),
        (base + 101_000, 9_000, "FP_BP Time 1", "derived"),
        (base + 101_000, 10_000, "Default/MatMul-op1", "kernel"),
        (base + 111_000, 0, "EVENT_RECORD", "other"),
        (base + 112_000, 4_000, "NOTIFY_WAIT", "comm_task"),
        (base + 112_000, 4_000, "Notify_Wait", "comm_task"),
        (base + 112_000, 6_000, "Default/AllReduce-op534_0", "comm"),
    ]  # fmt: skip
    assert rank.rows("slices") == 16
    assert rank.rows("kernels") == 4
    assert rows_of(rank, "collectives", "op", "seq") == [("allreduce", -1), ("allreduce", -1)]
    assert rows_of(rank, "links", "src", "dst", "transport", "bytes", "plane", "bandwidth") == [
        (0, -1, "LOCAL", 64, "Plane 0", 0.5)
    ] * 2  # fmt: skip
    assert rank.manifest["used"]["slices"] == ["msprof_0_2_1.json", "msprof_0_2_2.json"]
    # the others stay as tables: 3 events and 4 labels of each of 2 iterations; one step trace of 3 iterations
    assert rank.rows("reported_task_time") == 14
    assert rank.rows("reported_step_trace") == 9
    # 2 x (8 slices + 14 labels) here, 14 + 12 + 9 there
    assert rank.manifest["events"] == 2 * 22 + 14 + 12 + 9


def test_rows_of_several_files_are_the_same_rows(tmp_path: Path) -> None:
    rank = read(old_profile(tmp_path, whole=(1, 2)), tmp_path / "store")
    tracks = rows_of(rank, "tracks", "thread", "side", "stream", "device")
    assert sorted(tracks) == [
        ("Communication Kernel", "device", -1, 0),
        ("Plane 0", "device", -1, 0),
        ("Step Trace(Model ID:2)", "device", -1, 0),
        ("Stream 12", "device", 12, 0),
        ("Stream 2", "device", 2, 0),
        ("Thread 16028", "host", -1, -1),
    ]


def test_iterations_are_the_steps(tmp_path: Path) -> None:
    rank = read(old_profile(tmp_path, whole=(1, 2)), tmp_path / "store")
    base = 56_635_864_652_500
    # iteration 9 is in the step trace only
    assert rows_of(rank, "steps", "step", "start_ns", "end_ns", "origin") == [
        (1, base + 100_000, base + 120_000, "marked"),
        (2, base + 200_000, base + 220_000, "marked"),
    ]
    assert {entry.code: entry.count for entry in rank.quality} == {"same-content": 1, "steps-without-events": 1}


def test_iterations_without_the_whole_timeline_use_its_parts(tmp_path: Path) -> None:
    rank = read(old_profile(tmp_path, whole=(1,), parts=(2,)), tmp_path / "store")
    # iteration 2: 3 tasks and 2 of communication; its step trace is a copy of that of iteration 1
    assert rank.rows("slices") == 8 + 5
    assert len(rank.kind("kernel")) == 2
    used = sorted(rank.manifest["used"]["slices"])
    assert used == ["hccl_0_2_2.json", "msprof_0_2_1.json", "task_time_0_2_2.json"]
    assert [row[0] for row in rows_of(rank, "steps", "step")] == [1, 2]


def test_what_the_collection_says_of_itself(tmp_path: Path) -> None:
    rank = read(old_profile(tmp_path), tmp_path / "store")
    meta = dict(rows_of(rank, "meta", "key", "value"))
    assert rank.host == "node7"
    assert meta["msprof.info.devices"] == '"0"'
    # 1692340024324979 us - 56579931060630 ns
    assert meta["clock.epoch_offset_ns"] == "1692283444393918370"


def test_two_devices_are_two_ranks(tmp_path: Path) -> None:
    folder = old_profile(tmp_path, device=0)
    other = old_profile(tmp_path, device=1)
    (other / "device_1").rename(folder / "device_1")
    found = find_in(READER, folder).sources
    assert [(source.path.name, source.rank, source.options["device"]) for source in found] == [
        ("device_0", 4, "0"),
        ("device_1", 5, "1"),
    ]
    rank = read_source(READER, found[1], tmp_path / "store")
    assert {row[0] for row in rows_of(rank, "kernels", "device")} == {1}


def test_new_folder_takes_details_from_the_operator_summary(tmp_path: Path) -> None:
    pid = 4242 << 10 | 5 << 5
    timeline = [
        *labels(pid, "Ascend Hardware", t2="Stream 2"),
        event("Mul-op1", pid, 2, "1736412474725417.508", 20.5, Task_Type="AI_CORE", Stream_Id=2, Task_Id=4),
    ]
    folder = new_profile(
        tmp_path,
        msprof__json=json.dumps(timeline),
        op_summary__csv=OP_SUMMARY,
        op_statistic__csv="Device_id,OP Type,Count\n0,Mul,1\n",
        step_trace__csv="Device_id,Iteration ID,Iteration End(us),Iteration Time(us)\n0,7,1736412474725460.000,50.5\n",
        npu_mem__csv="Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n0,app,0,4,4,1736412474725418.5\n",
        memory_record__csv="Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device\n"
        "GE,1736412474725419.5,1,2,NPU:0\n",
    )
    rank = read(folder, tmp_path / "store")
    kernels = rows_of(rank, "kernels", "op_type", "core_type", "stream", "task", "blocks", "wait_ns", "shapes")
    assert sorted(kernels) == [
        ("Cast", "AI_CPU", 4, 9, 1, -1, "8"),
        ("Mul", "AI_CORE", 2, 4, 32, 1_250, "2,3;4"),
        ("hcom_allReduce_", "HCCL", -1, -1, 0, 0, None),
    ]
    slices = rows_of(rank, "slices", "start_ns", "dur_ns", "name", "kind")
    assert sorted(slices) == [
        (1_736_412_474_725_417_508, 20_500, "Mul-op1", "kernel"),
        (1_736_412_474_725_440_000, 3_000, "Cast-op2", "kernel"),
        (1_736_412_474_725_450_250, 7_000, "hcom_allReduce__586_0_1", "comm"),
    ]
    assert rows_of(rank, "steps", "step", "start_ns", "end_ns") == [
        (7, 1_736_412_474_725_409_500, 1_736_412_474_725_460_000)
    ]
    usage = rows_of(rank, "memory_usage", "ts_ns", "device", "component", "allocated_bytes", "reserved_bytes")
    assert sorted(usage) == [
        (1_736_412_474_725_418_500, "npu:0", "app memory", -1, 4096),
        (1_736_412_474_725_419_500, "npu:0", "GE", 1 << 20, 2 << 20),
    ]
    assert rank.table("reported_op_statistic").to_pylist() == [{"Device_id": 0, "OP Type": "Mul", "Count": 1}]
    assert (rank.device, rank.host) == ("Ascend NPU", "h")


def test_the_database_of_a_collection_wins(tmp_path: Path) -> None:
    pid = 4242 << 10 | 5 << 5
    timeline = [*labels(pid, "Ascend Hardware", t2="Stream 2"), event("Text-op1", pid, 2, "5", 1, Task_Type="AI_CORE")]
    folder = new_profile(tmp_path, msprof__json=json.dumps(timeline), op_statistic__csv="OP Type,Count\nMul,1\n")
    write_tables(folder / f"msprof_{STAMP}.db", small_run())
    (rank,) = open_run([folder]).ranks
    assert [part.reader for part in rank.unit.parts] == ["ascend-db", "msprof"]
    assert "Text-op1" not in rank.texts("slices", "name")
    assert len(rank.kind("kernel")) > 0
    assert rank.table("reported_op_statistic").to_pylist() == [{"OP Type": "Mul", "Count": 1}]
    assert [entry.count for entry in rank.quality if entry.code == "not-read"] == [1]


def test_slices_of_one_timeline_are_joined(tmp_path: Path) -> None:
    pid = 4242 << 10 | 5 << 5
    parts = [
        [*labels(pid, "Ascend Hardware", t2="Stream 2"), event(name, pid, 2, ts, 1, Task_Type="AI_CORE", Task_Id=4)]
        for name, ts in (("A-op1", "10.5"), ("B-op2", "30"))
    ]
    for number, events in enumerate(parts):
        (tmp_path / f"msprof_slice_{number}_{STAMP}.json").write_text(json.dumps(events))
    rank = read(tmp_path, tmp_path / "store")
    assert sorted(rows_of(rank, "slices", "start_ns", "name")) == [(10_500, "A-op1"), (30_000, "B-op2")]
    assert rank.rows("lanes") == 1


def test_devices_that_share_a_file_are_reported(tmp_path: Path) -> None:
    pids = [4242 << 10 | 5 << 5 | device for device in (0, 3)]
    events = [
        each
        for pid in pids
        for each in (*labels(pid, "Ascend Hardware", t2="Stream 2"), event("A-op1", pid, 2, 10, 1, Task_Type="AI_CORE"))
    ]
    rank = read(new_profile(tmp_path, msprof__json=json.dumps(events)), tmp_path / "store")
    assert [(entry.code, entry.count) for entry in rank.quality] == [("several-devices", 2)]
    assert sorted(rows_of(rank, "kernels", "device")) == [(0,), (3,)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("op_summary_1.csv", OP_SUMMARY),
        (f"msprof_{STAMP}.json", json.dumps(iteration(1, 1000.0)["msprof"])),
        ("task_time_0_2_1.json", json.dumps(iteration(1, 1000.0)["task_time"])),
    ],
)
def test_lone_files_belong_to_this_reader(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    (unit,) = discover([path]).units
    assert [part.reader for part in unit.parts] == ["msprof"]
    assert unit.path == path
    assert len(open_run([path]).ranks[0].kind("kernel")) > 0


def test_other_files_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "op_summary.csv").write_text(OP_SUMMARY)
    (tmp_path / "notes.csv").write_text("a\n1\n")
    (tmp_path / "package.json").write_text("{}")
    (source,) = find_in(READER, tmp_path).sources
    assert [path.name for path in source.files] == ["op_summary.csv"]
    assert source.covers == source.files


def test_raw_data_is_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = new_profile(tmp_path)
    (folder / "mindstudio_profiler_output").rmdir()
    found = find_in(READER, folder)
    assert not found.sources
    assert {refusal.path.name for refusal in found.refusals} == {"device_0", "host"}
    assert all("--export=on" in refusal.reason for refusal in found.refusals)
    (folder / f"msprof_{STAMP}.db").write_bytes(b"SQLite format 3\0")
    assert not find_in(READER, folder).refusals


def test_a_bad_file_costs_itself(tmp_path: Path) -> None:
    folder = old_profile(tmp_path, whole=(1, 2))
    broken = folder / "device_0" / "timeline" / "msprof_0_2_2.json"
    broken.write_text("[{]")
    rank = read(folder, tmp_path / "store")
    assert len(rank.kind("kernel")) == 1
    assert "file-not-read" in {entry.code for entry in rank.quality}


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / f"msprof_{STAMP}.json"
    path.write_text('[{"ph": "X", "name": ')
    with pytest.raises(InputError, match="none of its timelines"):
        read(path, tmp_path / "store")


@pytest.mark.shared_data
def test_real_folders_agree_with_their_own_analysis(profiles: Path) -> None:
    """Every step's times are those of the Overlap Analysis that msprof drew; the total is its iteration time."""
    run = open_run([profiles / "mindinsight" / "profiler"])
    assert [rank.rank for rank in run.ranks] == [0, 1, 10]
    assert [[part.reader for part in rank.unit.parts] for rank in run.ranks[:2]] == [["mindspore", "msprof"]] * 2
    table = analyze_run(run, ["step-time"]).table("step_time")
    names = ("rank", "step", "computing_ns", "communication_ns", "not_overlapped_ns", "free_ns", "total_ns")
    rows = {row[:2]: row[2:] for row in zip(*(table.column(name) for name in names), strict=True)}
    assert rows[(0, 1)] == (5_914_580, 41_534_300, 41_534_300, 113_630, 47_587_810)
    assert rows[(0, 10)] == (5_942_800, 10_238_590, 10_238_590, 126_070, 16_329_380)
    assert rows[(1, 3)] == (5_951_240, 9_560_200, 9_560_200, 122_020, 15_654_640)
    assert {step for rank, step in rows if rank == 1} == {1, 2, 3, 4, 5}
    # all complete events of the ten timelines, none of the files that repeat them
    assert run.ranks[0].rows("slices") == 10_838


@pytest.mark.shared_data
def test_real_operator_summary(profiles: Path) -> None:
    (rank,) = open_run([profiles / "msinsight" / "server_test_data" / "test_kernel_parse" / "op_summary_1.csv"]).ranks
    # 21 rows, of which the last is cut off
    assert (rank.manifest["events"], rank.manifest["lost"]) == (20, 1)
    first = min(rows_of(rank, "slices", "start_ns", "dur_ns", "name", "kind"))
    assert first == (1_695_115_378_713_661_000, 496_851, "ZerosLike", "kernel")
    assert sorted(op for (op,) in rows_of(rank, "collectives", "op")) == [
        "allgather", "allreduce", "broadcast", "broadcast",
    ]  # fmt: skip
