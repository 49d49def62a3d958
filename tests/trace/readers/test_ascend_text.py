"""The text output of the Ascend PyTorch Profiler, from a small run with figures worked out by hand, and real ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trace.ascend_run import COMM_NAME, EPOCH_NS, GROUP_ID, AscendRun, process_id, small_run, us
from tests.trace.make_ascend import write_text
from tests.trace.make_ascend_timeline import timeline_events
from tests.trace.read_source import find_in, read_source, rows_of
from trainwright.analyze.calls import calls_of
from trainwright.analyze.intervals import union
from trainwright.analyze.work import work_of
from trainwright.core.errors import InputError, NotAProfileError
from trainwright.core.result import Quality
from trainwright.trace.discover import discover
from trainwright.trace.ingest import open_run
from trainwright.trace.reader import RankSource
from trainwright.trace.readers.ascend_text import READER
from trainwright.trace.store import RankStore

OUTPUT = "ASCEND_PROFILER_OUTPUT"


def read(path: Path) -> RankStore:
    """The only rank below a path."""
    (rank,) = open_run([path]).ranks
    return rank


def small(tmp_path: Path, **options: Any) -> RankStore:
    """The small run."""
    return read(write_text(tmp_path, small_run(), **options))


def covered_ns(rank: RankStore, *kinds: str) -> int:
    """Time covered by slices of some kinds."""
    rows = rank.kind(*kinds)
    start = rank.column("slices", "start_ns")[rows]
    return union(start, start + rank.column("slices", "dur_ns")[rows]).measure


def named(rank: RankStore, name: str) -> list[dict[str, Any]]:
    """The slices of a name, in order of start."""
    found = [row for row in rank.table("slices").to_pylist() if row["name"] == name]
    return sorted(found, key=lambda row: row["start_ns"])


def details(rank: RankStore, table: str, name: str) -> dict[str, Any]:
    """The details of the first slice of a name."""
    event = named(rank, name)[0]["event"]
    (row,) = [row for row in rank.table(table).to_pylist() if row["event"] == event]
    return row


def noted(rank: RankStore, code: str) -> Quality:
    """The quality entry of a code."""
    (entry,) = [entry for entry in rank.quality if entry.code == code]
    return entry


def kinds(rank: RankStore) -> dict[str, str]:
    """Kind by name of slice (names of the small run that stand for one kind only)."""
    return {row["name"]: row["kind"] for row in rank.table("slices").to_pylist()}


@pytest.mark.parametrize("level", [0, 2])
def test_computing_and_communication_are_those_of_the_profiler(tmp_path: Path, level: int) -> None:
    rank, expected = small(tmp_path, level=level), small_run().expected
    assert covered_ns(rank, "kernel") == expected.computing_ns
    assert covered_ns(rank, "comm") == expected.communication_ns
    reported = rank.table("reported_step_trace_time").to_pylist()[0]
    assert reported["Computing"] == expected.computing_ns / 1000
    assert reported["Communication"] == expected.communication_ns / 1000


def test_times_are_exact(tmp_path: Path) -> None:
    rank = small(tmp_path)
    (product,) = named(rank, "aclnnMm_MatMulV2")
    assert (product["start_ns"], product["dur_ns"]) == (EPOCH_NS + 10_000, 20_000)
    assert rows_of(rank, "steps", "step", "start_ns", "end_ns", "origin") == [
        (5, EPOCH_NS, EPOCH_NS + 100_000, "marked")
    ]
    assert [window.step for window in work_of(rank).windows] == [5]


def test_every_slice_has_its_kind(tmp_path: Path) -> None:
    assert kinds(small(tmp_path)) == {
        "ProfilerStep#5": "step",
        "aten::mm": "op",
        "c10d::allreduce_": "op",
        "aten::copy_": "op",
        "enumerate(DataLoader)#_Single.__next__": "dataloader",
        "torch/nn/modules/linear.py(114): forward": "python",
        "Enqueue": "queue",
        "Dequeue@aclnnMm": "queue",
        "Dequeue@hcclAllReduce": "queue",
        "Dequeue@acl_memcpy": "queue",
        "Node@launch": "runtime",
        "AscendCL@aclrtMemcpyAsync": "runtime",
        "aclnnMm_MatMulV2": "kernel",
        "aclnnMm_Cast": "kernel",
        "MEMCPY_ASYNC": "comm_task",  # the later one, inside of the all-reduce
        "EVENT_WAIT": "sync",
        "Notify Wait": "comm_task",
        "SDMA": "comm_task",
        "hcom_allReduce__431_0_1": "comm",
        "Notify_Wait": "comm_task",
        "Memcpy": "comm_task",
        "Computing": "derived",
    }


def test_a_copy_counts_as_copy_unless_it_is_part_of_communication(tmp_path: Path) -> None:
    copies = named(small(tmp_path), "MEMCPY_ASYNC")
    assert [(copy["start_ns"] - EPOCH_NS, copy["kind"]) for copy in copies] == [
        (40_000, "memcpy"),
        (47_000, "comm_task"),
    ]


def test_the_operator_summary_enriches_kernels(tmp_path: Path) -> None:
    rank = small(tmp_path)
    product = details(rank, "kernels", "aclnnMm_MatMulV2")
    del product["event"], product["external_id"]
    assert product == {
        "stream": 2, "device": 0, "op_type": "MatMulV2", "core_type": "AI_CORE", "shapes": "32,64;64,16",
        "dtypes": "DT_BF16;DT_BF16", "formats": "ND;ND", "blocks": 20, "bytes": -1, "wait_ns": 0, "task": 1,
    }  # fmt: skip
    assert details(rank, "kernels", "aclnnMm_Cast")["core_type"] == "AI_VECTOR_CORE"
    assert details(rank, "kernels", "aclnnMm_Cast")["wait_ns"] == 2_000
    assert details(rank, "kernels", "MEMCPY_ASYNC")["bytes"] == 4_096
    # communication starts one nanosecond apart in the two files
    assert details(rank, "kernels", "hcom_allReduce__431_0_1")["op_type"] == "hcom_allReduce_"
    assert not [entry for entry in rank.quality if entry.code == "not-in-timeline"]


@pytest.mark.parametrize("level", [0, 2])
def test_every_task_has_its_operator_and_its_launch(tmp_path: Path, level: int) -> None:
    rank = small(tmp_path, level=level)
    calls = calls_of(rank)
    names, name = rank.texts("slices", "name"), rank.column("slices", "name")
    found = {}
    for task, op, call in zip(calls.task_rows, calls.task_op, calls.task_call, strict=True):
        started = int(rank.column("slices", "start_ns")[task]) - EPOCH_NS
        found[started] = (names[name[calls.rows[op]]], names[name[call]])
    host = {10_000: "Node@launch", 28_000: "Node@launch", 40_000: "AscendCL@aclrtMemcpyAsync"}
    queue = {10_000: "Dequeue@aclnnMm", 28_000: "Dequeue@hcclAllReduce", 40_000: "Dequeue@acl_memcpy"}
    launch = host if level else queue
    assert found[10_000] == ("aten::mm", launch[10_000])
    assert found[32_000] == ("aten::mm", launch[10_000])  # without an arrow: launched by the same call
    assert found[28_000] == ("c10d::allreduce_", launch[28_000])
    assert found[40_000] == ("aten::copy_", launch[40_000])


def test_queue_ids_and_connection_ids_do_not_meet(tmp_path: Path) -> None:
    rank = small(tmp_path)  # correlation 501 is the all-reduce, connection 501 the matrix product
    (product,), (entry,) = named(rank, "aclnnMm_MatMulV2"), named(rank, "Dequeue@hcclAllReduce")
    assert product["link"] == 501
    assert entry["link"] not in (-1, 501)
    assert [row["link"] for row in named(rank, "Enqueue")].count(entry["link"]) == 1


def test_a_task_without_any_host_call_is_linked_with_its_operator(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run(), level=0)
    path = folder / OUTPUT / "trace_view.json"
    events = [event for event in json.loads(path.read_text()) if event.get("cat") not in ("enqueue", "dequeue")]
    path.write_text(json.dumps(events))
    rank = read(folder)
    (product,), (op,) = named(rank, "aclnnMm_MatMulV2"), named(rank, "aten::mm")
    assert product["link"] == op["link"] > 2**32


def test_arrows_with_rounded_times_still_find_their_slices(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run())
    path = folder / OUTPUT / "trace_view.json"
    events = json.loads(path.read_text())
    for event in events:
        if event.get("cat") == "async_npu":  # newer profilers write these as floating point numbers
            event["ts"] = float(event["ts"])
    path.write_text(json.dumps(events))
    calls = calls_of(read(folder))
    assert (calls.task_op >= 0).all()


def test_collectives_say_group_sequence_and_size(tmp_path: Path) -> None:
    rank = small(tmp_path)
    collective = details(rank, "collectives", "hcom_allReduce__431_0_1")
    del collective["event"]
    assert collective == {
        "group": GROUP_ID, "seq": 0, "op": "allreduce", "dtype": "FP32", "bytes": 4_000, "group_size": 2, "peer": -1,
        "algorithm": "MESH-RING",
    }  # fmt: skip
    assert rank.table("groups").to_pylist() == [{"group": GROUP_ID, "name": "dp", "size": 2, "ranks": "[0, 1]"}]


def test_links_say_what_was_carried_between_whom(tmp_path: Path) -> None:
    columns = ("group", "src", "dst", "transport", "bytes", "plane", "bandwidth")
    assert rows_of(small(tmp_path), "links", *columns) == [
        (GROUP_ID, 0, 1, "LOCAL", 0, "Plane 0", 0.0),
        (GROUP_ID, 0, 1, "HCCS", 4_000, "Plane 1", 0.57),
        (GROUP_ID, 0, 0, "ON_CHIP", 512, "Plane 0", 1.02),
    ]


def test_operators_keep_shapes_types_and_stack(tmp_path: Path) -> None:
    op = details(small(tmp_path), "ops", "aten::mm")
    assert (op["sequence"], op["shapes"], op["dtypes"]) == (7, "32,64;64,16", "c10::BFloat16;c10::BFloat16")
    assert op["stack"] == "model.py(12): forward\ntrain.py(7): step"


def test_memory_comes_as_samples_and_as_allocations(tmp_path: Path) -> None:
    rank = small(tmp_path)
    columns = ("ts_ns", "device", "component", "allocated_bytes", "reserved_bytes", "active_bytes")
    assert rows_of(rank, "memory_usage", *columns) == [
        (EPOCH_NS + 1_500, "npu:0", "PTA", 3_072, 2 << 20, 3_072),
        (EPOCH_NS + 9_000, "npu:0", "APP", -1, 3 << 20, -1),
        (EPOCH_NS + 9_500, "npu:0", "module HCCL", -1, 1 << 20, -1),
    ]
    columns = ("ts_ns", "bytes", "release_ns", "allocated_bytes", "op")
    assert rows_of(rank, "memory_events", *columns) == [
        (EPOCH_NS + 1_500, 1_536, EPOCH_NS + 50_000, 3_072, "aten::mm"),
        (EPOCH_NS + 3_000, 512, -1, 3_584, "aten::empty"),
        (EPOCH_NS + 4_000, -1_024, -1, 2_560, "aten::old"),
    ]


def test_counters_tables_and_metadata_are_kept(tmp_path: Path) -> None:
    rank = small(tmp_path)
    assert rows_of(rank, "counters", "ts_ns", "name", "series", "value") == [
        (EPOCH_NS + 100, "AI Core Freq", "MHz", 1_800.0)
    ]
    reported = {name.removeprefix("reported_") for name in rank.table_names if name.startswith("reported_")}
    assert reported == {
        "kernel_details", "step_trace_time", "operator_memory", "memory_record", "npu_module_mem", "op_statistic",
        "communication_time", "communication_bandwidth",
    }  # fmt: skip
    assert rank.table("reported_kernel_details").to_pylist()[0]["Block Dim"] == 20
    meta = dict(rows_of(rank, "meta", "key", "value"))
    assert json.loads(meta["profiler_metadata.parallel_group_info"])[COMM_NAME]["group_name"] == "dp"
    assert (rank.device, rank.host) == ("Ascend NPU", "node1")


def test_device_tracks_name_device_and_stream(tmp_path: Path) -> None:
    rank = read(write_text(tmp_path, small_run(device=3)))
    tracks = {row["thread"]: row for row in rank.table("tracks").to_pylist()}
    assert [tracks["Stream 2"][key] for key in ("side", "stream", "device")] == ["device", 2, 3]
    assert tracks["Group 0 Communication"]["side"] == "device"
    assert tracks["Thread 101"]["side"] == "host"


def test_labels_at_the_end_of_the_file_count_for_all_events(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run())
    path = folder / OUTPUT / "trace_view.json"
    events = json.loads(path.read_text())
    path.write_text(json.dumps(sorted(events, key=lambda event: event["ph"] == "M")))
    rank = read(folder)
    assert covered_ns(rank, "kernel") == small_run().expected.computing_ns
    assert kinds(rank)["Node@launch"] == "runtime"


def test_without_a_timeline_slices_come_from_the_tables(tmp_path: Path) -> None:
    rank, expected = small(tmp_path, timeline=False), small_run().expected
    assert covered_ns(rank, "kernel") == expected.computing_ns
    assert covered_ns(rank, "comm") == expected.communication_ns
    assert details(rank, "kernels", "aclnnMm_Cast")["stream"] == 2
    assert details(rank, "collectives", "hcom_allReduce__431_0_1")["group"] == GROUP_ID
    assert noted(rank, "no-timeline").count == 1
    assert rank.manifest["used"]["slices"] == ["kernel_details.csv"]


def test_communication_that_only_the_report_lists_becomes_a_slice(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run(), timeline=False)
    (folder / OUTPUT / "kernel_details.csv").unlink()
    rank = read(folder)
    (collective,) = named(rank, "hcom_allReduce__431_0_1")
    assert collective["kind"] == "comm"
    assert collective["dur_ns"] == 20_000
    assert abs(collective["start_ns"] - EPOCH_NS - 28_000) <= 250  # the report has a floating point time


def test_an_operator_that_the_timeline_lacks_is_added_and_counted(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run())
    path = folder / OUTPUT / "trace_view.json"
    events = json.loads(path.read_text())
    path.write_text(json.dumps([event for event in events if event["name"] != "aclnnMm_Cast"]))
    rank = read(folder)
    assert covered_ns(rank, "kernel") == small_run().expected.computing_ns
    assert noted(rank, "not-in-timeline").count == 1
    tracks = rank.table("tracks").to_pylist()
    lanes = rank.table("lanes").to_pylist()
    on = tracks[lanes[named(rank, "aclnnMm_Cast")[0]["lane"]]["track"]]
    assert (on["thread"], on["pid"]) == ("Stream 2", str(process_id(small_run(), 13)))


def test_the_operator_summary_of_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run())
    path = folder / OUTPUT / "kernel_details.csv"
    text = path.read_text()
    for start in (10_000, 32_000):  # the same span, other times
        text = text.replace(us(start), us(start + 1_500))
    path.write_text(text)
    rank = read(folder)
    assert covered_ns(rank, "kernel") == small_run().expected.computing_ns
    assert noted(rank, "foreign-file").file == str(path)


def test_damage_in_one_table_costs_its_rows_only(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run())
    path = folder / OUTPUT / "kernel_details.csv"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b"hcom_")])
    (folder / OUTPUT / "communication.json").write_text("{")
    rank = read(folder)
    assert covered_ns(rank, "kernel") == small_run().expected.computing_ns
    assert noted(rank, "bad-row").count == 1
    assert noted(rank, "bad-row").offset == whole[: whole.rindex(b"hcom_")].rindex(b"\n") + 1
    assert rank.manifest["lost"] == 1
    assert "not valid JSON" in noted(rank, "unreadable-file").example


def test_level_0_has_no_group_ids_but_the_metadata_tells_them(tmp_path: Path) -> None:
    rank = small(tmp_path, level=0)
    assert details(rank, "collectives", "hcom_allReduce__431_0_1")["group"] == GROUP_ID


def renamed(tmp_path: Path, run: AscendRun, name: str) -> Path:
    """The folder of a rank under a name of the user's choice."""
    return write_text(tmp_path / f"made_{run.rank}", run).rename(tmp_path / name)


def test_ranks_are_found_by_folder_output_folder_and_any_name(tmp_path: Path) -> None:
    folder = renamed(tmp_path, small_run(1), "my run")
    for path in (tmp_path, folder, folder / OUTPUT):
        (unit,) = discover([path]).units
        assert (unit.rank, unit.path, unit.parts[0].rank_origin) == (1, folder, "file name")
        assert {file.name for file in unit.parts[0].files} >= {"trace_view.json", "profiler_info_1.json"}


def test_several_ranks_in_one_folder_are_ranks_of_their_own(tmp_path: Path) -> None:
    for rank in (3, 0):
        write_text(tmp_path, small_run(rank))
    found = discover([tmp_path])
    assert [(unit.rank, unit.path.name[:10]) for unit in found.units] == [(0, "node1_4242"), (3, "node1_4245")]
    assert [entry.code for entry in found.quality] == ["rank-gap"]


def test_the_rank_comes_from_the_metadata_when_no_name_tells(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run(1))
    (folder / "profiler_info_1.json").rename(folder / "profiler_info.json")
    (source,) = find_in(READER, folder).sources
    assert (source.rank, source.rank_origin) == (1, "metadata")
    (folder / "profiler_metadata.json").write_text("[")
    (source,) = find_in(READER, folder).sources
    assert (source.rank, source.rank_origin) == (None, "order")


def test_raw_data_and_all_files_of_the_rank_are_covered(tmp_path: Path) -> None:
    folder = write_text(tmp_path, small_run())
    for name in ("FRAMEWORK", "PROF_000001_20250109", "logs", "notes"):
        (folder / name).mkdir()
    (source,) = find_in(READER, folder).sources
    assert {path.name for path in source.covers if path.is_dir()} == {
        OUTPUT,
        "FRAMEWORK",
        "PROF_000001_20250109",
        "logs",
    }
    (folder / OUTPUT / "ascend_pytorch_profiler_0.db").write_bytes(b"")
    (source,) = find_in(READER, folder).sources
    assert folder / OUTPUT not in source.covers  # the database is for another reader
    assert dict(source.offers) == {"events": 1, "memory": 1, "counters": 1, "reported": 1, "meta": 1}


def test_raw_data_that_was_never_parsed_is_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = tmp_path / "node1_1_20250109084748_ascend_pt"
    (folder / "FRAMEWORK").mkdir(parents=True)
    (folder / "profiler_info.json").write_text("{}")
    with pytest.raises(NotAProfileError, match="analyse"):
        discover([folder])


def test_lone_timelines_are_one_rank_each(tmp_path: Path) -> None:
    for rank in (1, 0):
        text = json.dumps(timeline_events(small_run(rank)))
        (tmp_path / f"old_rank{rank}_trace_view.json.gz").write_bytes(gzip.compress(text.encode()))
    ranks = open_run([tmp_path]).ranks
    assert [(rank.rank, rank.unit.parts[0].reader) for rank in ranks] == [(0, "ascend-text"), (1, "ascend-text")]
    for rank in ranks:
        assert covered_ns(rank, "kernel") == small_run().expected.computing_ns


def test_a_renamed_timeline_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    path.write_text(json.dumps(timeline_events(small_run())))
    assert read(path).unit.parts[0].reader == "ascend-text"


def test_a_lone_operator_summary_is_a_rank(tmp_path: Path) -> None:
    folder = write_text(tmp_path / "made", small_run())
    path = (folder / OUTPUT / "kernel_details.csv").rename(tmp_path / "advisor_kernel_details.csv")
    rank = read(path)
    assert covered_ns(rank, "kernel") == small_run().expected.computing_ns
    assert "reported_advisor_kernel_details" in rank.table_names


def test_a_file_that_only_looks_like_a_timeline_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trace_view.json").write_text('"nothing"')
    with pytest.raises(NotAProfileError, match="no event array"):
        open_run([tmp_path])


def test_a_rank_of_which_nothing_can_be_read_says_why(tmp_path: Path) -> None:
    output = tmp_path / "x_ascend_pt" / OUTPUT
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text('[{"ph": "X", "name": "a" "ts"')
    with pytest.raises(InputError, match=r"no event could be read|none of the 1 rank"):
        open_run([tmp_path])


def test_beside_a_database_only_the_parts_asked_for_are_poured(tmp_path: Path) -> None:
    (source,) = find_in(READER, write_text(tmp_path, small_run())).sources

    def part(*takes: str) -> RankStore:
        chosen = RankSource(
            reader=source.reader, path=source.path, files=source.files, takes=frozenset((*takes, "reported"))
        )
        return read_source(READER, chosen, tmp_path / "-".join(takes))

    only_memory = part("memory")
    assert (only_memory.rows("slices"), only_memory.rows("memory_usage"), only_memory.rows("counters")) == (0, 3, 0)
    only_counters = part("counters")
    assert rows_of(only_counters, "counters", "ts_ns", "value") == [(EPOCH_NS + 100, 1_800.0)]
    assert (only_counters.rows("slices"), only_counters.rows("flows"), only_counters.rows("tracks")) == (0, 0, 1)
    only_events = part("events")
    assert (only_events.rows("memory_usage"), only_events.rows("counters")) == (0, 0)
    assert covered_ns(only_events, "kernel") == 24_000
    assert all("reported_kernel_details" in rank.table_names for rank in (only_memory, only_counters, only_events))


@pytest.mark.shared_data
@pytest.mark.parametrize("level", ["level0", "level2"])
@pytest.mark.parametrize("number", [0, 1])
def test_real_ranks_agree_with_their_own_step_trace(profiles: Path, level: str, number: int) -> None:
    rank = read(profiles / "msinsight" / "pytorch_2rank" / "text" / level / f"rank{number}_ascend_pt")
    reported = rank.table("reported_step_trace_time").to_pylist()[0]
    # the profiler adds up intervals that it rounds one by one: half a nanosecond each
    for kind, column in (("kernel", "Computing"), ("comm", "Communication")):
        assert abs(covered_ns(rank, kind) - round(1000 * reported[column])) <= len(rank.kind(kind)) / 2
    calls = calls_of(rank)
    assert (calls.task_op >= 0).all()
    assert (calls.task_call >= 0).all()
    assert rank.manifest["lost"] == 0


@pytest.mark.shared_data
@pytest.mark.parametrize("number", [0, 1])
def test_real_old_timelines_agree_with_the_overlap_they_show(profiles: Path, number: int) -> None:
    rank = read(profiles / "msinsight" / "_history" / f"old_level1_rank{number}_trace_view.json.gz")
    assert rank.rank == number
    for kind, name in (("kernel", "Computing"), ("comm", "Communication")):
        shown = sum(row["dur_ns"] for row in named(rank, name))
        assert abs(covered_ns(rank, kind) - shown) <= len(rank.kind(kind)) / 2
    calls = calls_of(rank)
    launched = np.isin(calls.task_rows, rank.kind("kernel", "comm"))  # copies carry no connection id in these files
    assert (calls.task_call[launched] >= 0).all()


@pytest.mark.shared_data
def test_real_tables_without_a_timeline(profiles: Path) -> None:
    rank = read(profiles / "msinsight" / "server_test_data" / "test_rank_0")
    assert (len(rank.kind("kernel")), len(rank.kind("comm"))) == (16, 28)
    assert rank.manifest["lost"] == 1  # a row of which a cell is missing
    assert noted(rank, "bad-row").count == 1
