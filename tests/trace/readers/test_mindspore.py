"""MindInsight folders: ranks by file name, one source of slices, everything else as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trace.ascend_run import small_run
from tests.trace.make_ascend import write_text
from tests.trace.read_source import find_in, read_source, rows_of
from trainwright.core.errors import InputError
from trainwright.trace.ingest import open_run
from trainwright.trace.mindinsight_names import comm_op, device_op_kind, report_file
from trainwright.trace.readers.mindspore import READER
from trainwright.trace.store import RankStore

STEP_TRACE = """step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail,\
stream_48_0_Receive-op663,stream_48_0_Receive-op663_start_point,stream_48_0_Receive-op663_end_point,\
stream_10_parallel_0_start_point,stream_10_parallel_0_end_point,stream_10_parallel_0
1,1000,2000,1000,1100,1600,100,500,400,50,1200,1250,1700,1800,100
2,2000,3100,1100,2300,2800,300,500,300,0,0,0,2900,2950,50
-,1500,2550,1050,1700,2200,200,500,350,25,600,625,2300,2375,75
"""
INPUT = {"format": "DefaultFormat", "data_type": "NUMBER_TYPE_FLOAT16", "shape": "2,3"}
TIMELINE = [
    {"name": "GetNext", "ph": "X", "tid": "0", "ts": 6042138.5, "dur": 518.25, "pid": 9000},
    {"name": "AllReduce-op1", "ph": "X", "tid": "7", "ts": 6042140, "dur": 2, "pid": 10000},
    {"name": "computation_op", "ph": "X", "tid": 7999, "ts": 6042909.559, "dur": 3.1, "pid": 12000},
    {"name": "1", "ph": "X", "tid": "Steps", "ts": 6042000, "dur": 1000, "pid": 1},
    {"name": "AssignAdd-op142", "ph": "X", "tid": "519", "ts": 6042909.559, "dur": 3.1, "pid": 1,
     "args": {"type": "AssignAdd", "fullname": "Default/AssignAdd-op142", "input_0": INPUT, "input_1": INPUT}},
]  # fmt: skip


def write(folder: Path, **files: Any) -> Path:
    """Files of a folder; ``__`` in a name stands for the dot; what is no text is written as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        text = value if isinstance(value, str) else json.dumps(value)
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def read(folder: Path, store: Path) -> RankStore:
    """The only source of a folder."""
    (source,) = find_in(READER, folder).sources
    return read_source(READER, source, store)


def test_ranks_come_from_file_names(tmp_path: Path) -> None:
    write(
        tmp_path, step_trace_raw_10_detail_time__csv=STEP_TRACE, hccl_raw_10__csv="a\n1\n", flops_2__txt="a, b\n1, 2\n",
        profiler_info_5__json={}, other_7__json={},
    )  # fmt: skip
    found = {source.rank: [path.name for path in source.files] for source in find_in(READER, tmp_path).sources}
    assert found == {2: ["flops_2.txt"], 10: ["hccl_raw_10.csv", "step_trace_raw_10_detail_time.csv"]}


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("aicore_intermediate_3_detail.csv", "aicore_intermediate_detail"),
        ("step_trace_raw_3_detail_time.csv", "step_trace_raw"),
        ("flops_scope_3.json", "flops_scope"),
        ("ascend_cluster_analyse_model-parallel_1_8_3.csv", "ascend_cluster_analyse"),
        ("kernel_details.csv", None),
        ("step_trace_3_1_1.json", None),
    ],
)
def test_file_names(name: str, table: str | None) -> None:
    file = report_file(Path(name))
    assert (file and file.table) == table
    assert file is None or file.rank == 3


def test_step_trace_gives_steps_and_communication(tmp_path: Path) -> None:
    rank = read(write(tmp_path / "profiler", step_trace_raw_0_detail_time__csv=STEP_TRACE), tmp_path / "store")
    # ticks of 10 ns; the average row is no step
    assert rows_of(rank, "steps", "step", "start_ns", "end_ns", "origin") == [
        (1, 10_000, 20_000, "marked"),
        (2, 20_000, 31_000, "marked"),
    ]
    slices = sorted(rows_of(rank, "slices", "start_ns", "dur_ns", "name", "kind"))
    assert [row for row in slices if row[3] == "comm"] == [
        (12_000, 500, "Receive-op663", "comm"),
        (17_000, 1_000, "parallel_0", "comm"),
        (29_000, 500, "parallel_0", "comm"),
    ]
    assert [row for row in slices if row[2] == "fp_and_bp"] == [
        (11_000, 5_000, "fp_and_bp", "derived"),
        (23_000, 5_000, "fp_and_bp", "derived"),
    ]
    assert sorted(rows_of(rank, "collectives", "op"), key=str) == [("recv",), (None,), (None,)]
    assert rank.rows("reported_step_trace_raw") == 3
    assert not rank.quality


def test_a_step_trace_without_steps_is_a_table(tmp_path: Path) -> None:
    only_average = "\n".join([STEP_TRACE.splitlines()[0], STEP_TRACE.splitlines()[3]])
    rank = read(write(tmp_path / "profiler", step_trace_raw_0_detail_time__csv=only_average), tmp_path / "store")
    assert (rank.rows("steps"), rank.rows("slices"), rank.rows("reported_step_trace_raw")) == (0, 0, 1)


def test_timeline_kinds_places_and_shapes(tmp_path: Path) -> None:
    rank = read(write(tmp_path / "profiler", ascend_timeline_display_0__json=TIMELINE), tmp_path / "store")
    assert sorted(rows_of(rank, "slices", "start_ns", "dur_ns", "name", "kind")) == [
        (6_042_000_000, 1_000_000, "1", "step"),
        (6_042_138_500, 518_250, "GetNext", "kernel"),
        (6_042_140_000, 2_000, "AllReduce-op1", "comm"),
        (6_042_909_559, 3_100, "AssignAdd-op142", "kernel"),
        (6_042_909_559, 3_100, "computation_op", "derived"),
    ]
    kernels = rows_of(rank, "kernels", "stream", "device", "op_type", "core_type", "shapes", "dtypes")
    assert kernels[-1] == (519, 1, "AssignAdd", None, "2,3;2,3", "NUMBER_TYPE_FLOAT16;NUMBER_TYPE_FLOAT16")
    assert kernels[0] == (0, -1, None, "AI_CPU", None, None)
    assert rows_of(rank, "collectives", "op") == [("allreduce",)]
    assert (rank.manifest["events"], rank.device) == (5, "Ascend NPU")


def test_the_timeline_wins_over_the_step_trace(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "profiler", ascend_timeline_display_0__json=TIMELINE, gpu_timeline_display_0__json=TIMELINE[:1],
        step_trace_raw_0_detail_time__csv=STEP_TRACE,
    )  # fmt: skip
    rank = read(folder, tmp_path / "store")
    assert rank.rows("slices") == 5
    assert rank.rows("steps") == 0
    assert rank.manifest["used"]["slices"] == ["ascend_timeline_display_0.json"]
    assert rows_of(rank, "reported_gpu_timeline_display", "name", "ts_ns", "dur_ns", "pid") == [
        ("GetNext", 6_042_138_500, 518_250, "9000")
    ]
    # 5 slices, 1 event kept as a row, 3 rows of the step trace
    assert rank.manifest["events"] == 9


def test_documents_become_tables(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "profiler",
        flops_summary_0__json={"FLOPs": 8167.5, "FLOPS": 9868},
        flops_scope_0__json={"data": {"nodes": [{"name": "a"}], "links": [{"source": "a", "value": 4.5}]}, "max": 7},
        minddata_cpu_utilization_0__json={"interval": 100, "device_info": {"user": [10, 20], "sys": [1, 2]}},
        dynamic_shape_info_0__json={"operator": {"1": [{"op": "Add", "dur": 75.5, "shape_info": ["[32, 1]"]}]}},
        device_queue_profiling_0__txt="0 1 1 4 10\n\n1 64 x 0 10\n",
        flops_0__txt="full_kernel_name, FLOPs\nDefault/Cast-op6, 333\n",
    )
    rank = read(folder, tmp_path / "store")
    assert rank.table("reported_flops_summary").to_pylist() == [{"FLOPs": 8167.5, "FLOPS": 9868}]
    assert rows_of(rank, "reported_flops_scope", "key", "key_2", "name", "source", "value") == [
        ("data", "nodes", "a", None, None),
        ("data", "links", None, "a", 4.5),
        ("max", None, None, None, 7.0),
    ]
    assert rows_of(rank, "reported_minddata_cpu_utilization", "key", "value", "user", "sys") == [
        ("interval", 100, None, None),
        ("device_info", None, 10, 1),
        ("device_info", None, 20, 2),
    ]
    assert rows_of(rank, "reported_dynamic_shape_info", "key", "key_2", "op", "dur", "shape_info") == [
        ("operator", "1", "Add", 75.5, '["[32, 1]"]')
    ]
    assert rows_of(rank, "reported_device_queue_profiling", "column_1", "column_2", "column_3") == [
        (0, 1, "1"), (1, 64, "x"),
    ]  # fmt: skip
    assert rows_of(rank, "reported_flops", "full_kernel_name", "FLOPs") == [("Default/Cast-op6", 333)]
    assert rank.manifest["events"] == 1 + 3 + 3 + 1 + 2 + 1
    assert rank.rows("slices") == 0


MAREY = {
    "maps": {
        "device0": {"Send-op1": {"st": 183917308.5, "ed": 9, "dur": 1.0}, "StreamRecv-op2": {"st": 2, "dur": 0.05}},
        "device1": {"Conv2D-op3": {"st": 10.0625, "ed": 20, "dur": 9.9375}, "bad": {"ed": 1}},
    },
    "stage_data": {"stage0": {"data": {"Send-op1": {"st_avg": 1.5, "n": 2}}}},
}  # fmt: skip


def test_every_device_of_a_marey_graph_is_a_rank(tmp_path: Path) -> None:
    folder = write(tmp_path / "m", ascend_marey_timeline_1__json=MAREY, scope_map_1__json={"scope_map": {"a": "/b"}})
    found = find_in(READER, folder).sources
    assert [(source.rank, source.options) for source in found] == [
        (0, {"device": "device0"}),
        (1, {"device": "device1"}),
    ]
    first, second = (read_source(READER, source, tmp_path / f"s{source.rank}") for source in found)
    assert sorted(rows_of(first, "slices", "start_ns", "dur_ns", "name", "kind")) == [
        (2_000, 50, "StreamRecv-op2", "sync"),
        (183_917_308_500, 1_000, "Send-op1", "comm"),
    ]
    # half to even: 10062.5 ns and 9937.5 ns
    assert rows_of(second, "slices", "start_ns", "dur_ns", "kind") == [(10_062, 9_938, "kernel")]
    assert rows_of(second, "kernels", "op_type") == [("Conv2D",)]
    assert (second.manifest["events"], second.manifest["lost"]) == (2, 1)
    assert rows_of(first, "reported_scope_map", "op", "scope") == [("a", "/b")]
    assert rows_of(first, "reported_marey_stages", "key", "key_3", "n") == [("stage0", "Send-op1", 2)]
    assert "reported_scope_map" not in second.table_names


def test_operators_that_only_sound_like_communication() -> None:
    assert {name: device_op_kind(name) for name in ("Default/ReduceMean-op3", "Gather-op1", "BroadcastTo-op2")} == {
        "Default/ReduceMean-op3": "kernel",
        "Gather-op1": "kernel",
        "BroadcastTo-op2": "kernel",
    }
    assert comm_op("Default/x/AllReduce-op534_0") == "allreduce"
    assert comm_op("NeighborExchangeV2-op1") == "alltoall"
    assert comm_op("Receive-op9") == "recv"


def test_a_bad_file_costs_itself(tmp_path: Path) -> None:
    folder = write(tmp_path / "profiler", ascend_timeline_display_0__json="{", flops_summary_0__json={"FLOPs": 1})
    rank = read(folder, tmp_path / "store")
    assert rank.rows("reported_flops_summary") == 1
    assert [(entry.code, Path(entry.file).name) for entry in rank.quality] == [
        ("file-not-read", "ascend_timeline_display_0.json")
    ]
    alone = write(tmp_path / "alone", flops_summary_0__json="{")
    with pytest.raises(InputError, match="not valid JSON"):
        read(alone, tmp_path / "other")


def test_extras_join_the_ascend_rank(tmp_path: Path) -> None:
    rank_folder = tmp_path / "host_1_20250101_ascend_ms"
    write(
        rank_folder / "ASCEND_PROFILER_OUTPUT", dataset__csv="Operation,Stage\nGet,Push\n",
        minddata_pipeline_summary_2__json={"op_ids": [0, 1], "op_names": ["Batch", "Map"]},
    )  # fmt: skip
    (source,) = find_in(READER, rank_folder).sources
    assert source.path == rank_folder
    assert [path.name for path in source.files] == ["minddata_pipeline_summary_2.json"]
    assert rows_of(
        read_source(READER, source, tmp_path / "store"), "reported_minddata_pipeline_summary", "op_ids", "op_names"
    ) == [(0, "Batch"), (1, "Map")]


def test_an_ascend_rank_of_mindspore_is_one_rank(tmp_path: Path) -> None:
    text = write_text(tmp_path, small_run())
    folder = text.rename(text.with_name(text.name.replace("_ascend_pt", "_ascend_ms")))
    write(folder / "ASCEND_PROFILER_OUTPUT", minddata_pipeline_summary_0__json={"op_ids": [0], "op_names": ["Map"]})
    (rank,) = open_run([tmp_path]).ranks
    assert [part.reader for part in rank.unit.parts] == ["ascend-text", "mindspore"]
    assert rank.rows("reported_minddata_pipeline_summary") == 1
    assert len(rank.kind("kernel")) > 0


@pytest.mark.shared_data
def test_real_step_traces(profiles: Path) -> None:
    run = open_run([profiles / "mindinsight" / "cluster_propose"])
    assert [rank.rank for rank in run.ranks] == [0, 1]
    steps = rows_of(run.ranks[0], "steps", "step", "start_ns", "end_ns")
    assert steps[0] == (1, 11_624_120_793_490, 11_624_298_980_090)
    assert len(steps) == 5
    # 97 operators in each of 5 steps, three phases in each
    assert len(run.ranks[0].kind("comm")) == 485
    assert run.ranks[0].rows("slices") == 500
    assert run.ranks[0].rows("reported_hccl_raw") == 7


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "ascend_timeline_display_0.json",
            [
                (0, 160_000, "InitData"),
                (6_042_139_000, 518_000, "GetNext"),
                (6_042_909_560, 3_100, "AssignAdd-op142"),
            ],
        ),
        (
            "gpu_timeline_display_0.json",
            [
                (1_600_695_893_269_618_200, 303_840, "Default/InitDataSetQueue-op0"),
                (1_600_695_897_737_724_800, 5_792, "void MomentumUpdateVariableKernel<float, float, float>"),
            ],
        ),
    ],
)  # fmt: skip
def test_real_timelines(profiles: Path, name: str, expected: list[tuple[int, int, str]]) -> None:
    (rank,) = open_run([profiles / "mindinsight" / "profiler" / name]).ranks
    rows = sorted(rows_of(rank, "slices", "start_ns", "dur_ns", "name"))
    assert [(start, dur, text.partition("(")[0]) for start, dur, text in rows] == expected
