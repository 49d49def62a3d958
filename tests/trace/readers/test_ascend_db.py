"""The databases of Ascend profilers: a small run with figures worked out by hand, its text form, and real ranks."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.trace.ascend_run import COMM_NAME, EPOCH_NS, GROUP_ID, MAIN_THREAD, PID, AscendRun, small_run
from tests.trace.make_ascend import write_text
from tests.trace.make_ascend_db import alter, at, table, write_database, write_tables
from tests.trace.read_source import find_in, rows_of
from trainwright.analyze.engine import analyze_run
from trainwright.core.errors import InputError, NotAProfileError
from trainwright.trace import sqlite
from trainwright.trace.discover import discover
from trainwright.trace.ingest import open_run
from trainwright.trace.readers.ascend_db import READER
from trainwright.trace.store import RankStore

OUTPUT = "ASCEND_PROFILER_OUTPUT"
DATABASE = "ascend_pytorch_profiler_0.db"


def read(path: Path) -> RankStore:
    """The only rank below a path."""
    (rank,) = open_run([path]).ranks
    return rank


def small(tmp_path: Path, change: Callable[[sqlite3.Connection], object] | None = None, **options: Any) -> RankStore:
    """The small run after a change to its database."""
    folder = write_database(tmp_path, small_run(), **options)
    if change is not None:
        with sqlite3.connect(folder / OUTPUT / DATABASE) as connection:
            change(connection)
        connection.close()
    return read(folder)


def quality(rank: RankStore) -> dict[str, int]:
    """How often each thing was noted."""
    return {entry.code: entry.count for entry in rank.quality}


def times(rank: RankStore, name: str) -> list[tuple[int, int]]:
    """Start since the epoch of the run, and duration, of the slices of a name."""
    rows = sorted(row for row in rows_of(rank, "slices", "start_ns", "dur_ns", "name") if row[2] == name)
    return [(start - EPOCH_NS, dur) for start, dur, _ in rows]


def event_names(rank: RankStore) -> dict[int, str]:
    """Name by event number of everything with a duration."""
    return dict(rows_of(rank, "slices", "event", "name")) | {-1: ""}


def joined(rank: RankStore, what: str, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of a table with the name and start of their slice instead of the event number, sorted."""
    starts = {event: (name, start) for event, name, start in rows_of(rank, "slices", "event", "name", "start_ns")}
    return sorted((starts[row[0]] + row[1:] for row in rows_of(rank, what, "event", *columns)), key=repr)


# --- one run, two forms ---


@pytest.fixture
def pair(tmp_path: Path) -> tuple[RankStore, RankStore]:
    """The same run out of its text form and out of its database."""
    run = small_run(device=3)
    (tmp_path / "text").mkdir()
    (tmp_path / "db").mkdir()
    return read(write_text(tmp_path / "text", run)), read(write_database(tmp_path / "db", run))


def test_both_forms_give_the_same_slices(pair: tuple[RankStore, RankStore]) -> None:
    def slices(rank: RankStore) -> list[tuple[Any, ...]]:
        kinds, names = rank.texts("slices", "kind"), rank.texts("slices", "name")
        track = rank.column("lanes", "track")[rank.column("slices", "lane")]
        columns = [rank.column("slices", name).tolist() for name in ("start_ns", "dur_ns", "link", "kind", "name")]
        device, stream = (rank.column("tracks", name)[track].tolist() for name in ("device", "stream"))
        rows = zip(*columns, device, stream, strict=True)
        found = [(kinds[kind], names[name], *row, on, of) for *row, kind, name, on, of in rows]
        return sorted(row for row in found if row[0] != "derived")  # Overlap Analysis is drawn by the text form only

    text, database = map(slices, pair)
    # a step, 5 ranges of the framework, 6 queue entries, 3 calls, 7 tasks, an operator and its 3 parts
    assert len(text) == 1 + 5 + 6 + 3 + 7 + 1 + 3
    assert text == database


def test_both_forms_give_the_same_kernels(pair: tuple[RankStore, RankStore]) -> None:
    columns = ("stream", "device", "op_type", "shapes", "dtypes", "formats", "task", "bytes")
    text, database = (joined(rank, "kernels", *columns) for rank in pair)
    assert len(text) == 4
    assert text == database
    for rank in pair:
        names = event_names(rank)
        launched = {
            names[event]: names[operator] for event, operator in rows_of(rank, "kernels", "event", "external_id")
        }
        assert launched == {
            "aclnnMm_MatMulV2": "aten::mm",
            "aclnnMm_Cast": "aten::mm",
            "MEMCPY_ASYNC": "aten::copy_",  # the database does not say so: it follows from the launch queue
            "hcom_allReduce__431_0_1": "c10d::allreduce_",
        }
        cores = {names[event]: core for event, core in rows_of(rank, "kernels", "event", "core_type")}
        assert cores["aclnnMm_Cast"] == "AI_VECTOR_CORE"
        assert cores["hcom_allReduce__431_0_1"] == "HCCL"


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("collectives", ("group", "seq", "op", "dtype", "bytes", "group_size", "peer", "algorithm")),
        ("links", ("group", "src", "dst", "transport", "bytes", "plane", "bandwidth")),
        ("ops", ("sequence", "fwd_thread", "shapes", "dtypes", "stack", "module")),
    ],
)
def test_both_forms_give_the_same_details(
    pair: tuple[RankStore, RankStore], name: str, columns: tuple[str, ...]
) -> None:
    text, database = (joined(rank, name, *columns) for rank in pair)
    assert text == [row for row in database if not row[0].startswith("ProfilerStep")]  # that of the text has no details
    assert text


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("memory_events", ("ts_ns", "device", "bytes", "allocated_bytes", "reserved_bytes", "op", "release_ns")),
        ("memory_usage", ("ts_ns", "device", "component", "allocated_bytes", "reserved_bytes", "active_bytes")),
        ("counters", ("ts_ns", "name", "series", "value")),
        ("groups", ("group", "name", "size", "ranks")),
        ("steps", ("step", "start_ns", "end_ns", "origin")),
    ],
)
def test_both_forms_give_the_same_tables(
    pair: tuple[RankStore, RankStore], name: str, columns: tuple[str, ...]
) -> None:
    text, database = (sorted(rows_of(rank, name, *columns)) for rank in pair)
    assert text == database
    assert text


def test_side_by_side_the_forms_are_one_rank_poured_once(tmp_path: Path) -> None:
    run = small_run()
    folder = write_text(tmp_path, run)
    write_tables(folder / OUTPUT / DATABASE, run)
    (unit,) = discover([tmp_path]).units
    takes = {part.reader: sorted(part.takes or ()) for part in unit.parts}
    assert takes == {
        "ascend-text": ["reported"],
        "ascend-db": ["counters", "events", "memory", "meta", "reported"],
    }
    rank = read(tmp_path)
    assert times(rank, "aclnnMm_MatMulV2") == [(10_000, 20_000)]
    assert len(rows_of(rank, "memory_events", "event")) == 3
    assert "reported_op_statistic" in rank.table_names


# --- figures of the small run ---


def test_figures_of_the_small_run(tmp_path: Path) -> None:
    run = small_run()
    (row,) = analyze_run(open_run([write_database(tmp_path, run)]), ["step-time"]).table("step_time").records()
    assert row["computing_ns"] == run.expected.computing_ns == 24_000
    assert row["not_overlapped_ns"] == run.expected.not_overlapped_ns == 14_000
    assert row["free_ns"] == run.expected.free_ns == 0
    assert (row["step"], row["start_ns"]) == (5, EPOCH_NS)


def test_text_times_keep_every_nanosecond(tmp_path: Path) -> None:
    rank = small(tmp_path)
    assert times(rank, "aten::mm") == [(1_000, 8_000)]
    assert quality(rank) == {}
    assert (rank.manifest["lost"], rank.device, rank.host) == (0, "Ascend910B", "node1")


def test_arrows_join_launches_queue_entries_and_operators(tmp_path: Path) -> None:
    rank = small(tmp_path)
    names = event_names(rank)
    arrows: dict[str, set[tuple[str, str]]] = {}
    ends: dict[tuple[str, int], dict[str, list[str]]] = {}
    for category, number, phase, event in rows_of(rank, "flows", "category", "id", "phase", "event"):
        ends.setdefault((category, number), {}).setdefault(phase, []).append(names[event])
    for (category, _), both in ends.items():
        arrows.setdefault(category, set()).update(zip(both["s"], both["f"], strict=True))
    assert ("Node@launch", "aclnnMm_MatMulV2") in arrows["HostToDevice"]
    assert ("AscendCL@aclrtMemcpyAsync", "MEMCPY_ASYNC") in arrows["HostToDevice"]
    assert ("aten::copy_", "MEMCPY_ASYNC") in arrows["async_npu"]
    assert ("Enqueue", "Dequeue@aclnnMm") in arrows["async_task_queue"]
    assert "fwdbwd" not in arrows


def test_only_the_launching_call_of_several_carries_the_connection_id(tmp_path: Path) -> None:
    def again(connection: sqlite3.Connection) -> None:
        # the table of old versions has no key: two levels share the id
        connection.execute("ALTER TABLE CANN_API RENAME TO keyed")
        connection.execute("CREATE TABLE CANN_API AS SELECT * FROM keyed")
        connection.execute("DROP TABLE keyed")
        connection.execute(
            "INSERT INTO CANN_API SELECT startNs - 100, endNs + 100, 20000, globalTid, connectionId, name "
            "FROM CANN_API WHERE connectionId = 501"
        )

    rank = small(tmp_path, again)
    links = dict(rows_of(rank, "slices", "name", "link"))
    assert links["AscendCL@launch"] == -1
    assert sorted(link for name, link in rows_of(rank, "slices", "name", "link") if name == "Node@launch") == [501, 502]


def test_without_host_calls_the_operator_is_the_launch(tmp_path: Path) -> None:
    rank = small(tmp_path, lambda connection: connection.execute("DROP TABLE CANN_API"))
    links = dict(rows_of(rank, "slices", "name", "link"))
    assert links["aclnnMm_MatMulV2"] == links["aten::mm"] != -1


def test_a_frame_around_a_task_is_not_computing(tmp_path: Path) -> None:
    def frame(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO TASK SELECT startNs - 5000, endNs + 5000, deviceId, connectionId, 99, globalPid, taskType, 0, "
            "streamId, 77, modelId FROM TASK WHERE globalTaskId = 0"
        )

    rank = small(tmp_path, frame)
    kinds = dict(rows_of(rank, "slices", "name", "kind"))
    assert kinds["KERNEL_AICORE"] == "other"
    assert sum(dur for _, dur in (times(rank, "aclnnMm_MatMulV2") + times(rank, "aclnnMm_Cast"))) == 24_000


def test_types_decide_where_the_database_does_not_name_computing_tasks(tmp_path: Path) -> None:
    rank = small(tmp_path, lambda connection: connection.execute("DROP TABLE COMPUTE_TASK_INFO"))
    assert sorted(rows_of(rank, "slices", "name", "kind")).count(("KERNEL_AICORE", "kernel")) == 2


def test_marks_and_garbage_collection(tmp_path: Path) -> None:
    tid = PID << 32 | MAIN_THREAD

    def mark(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", [(1, "forward"), (2, "here"), (3, "MSTX")])
        table(connection, "ENUM_MSTX_EVENT_TYPE(id, name)", [(0, "marker"), (1, "push/pop")])
        rows = [(at(1_000), at(4_000), 1, 1, tid, 900), (at(2_000), at(2_000), 0, 2, tid, 901)]
        table(connection, "MSTX_EVENTS(startNs, endNs, eventType, message, globalTid, connectionId)", rows)
        task = (at(5_000), at(6_000), 0, 900, 500, PID, 3, 0, 2, 70, 0)
        connection.execute(f"INSERT INTO TASK VALUES ({', '.join('?' * 11)})", task)
        table(connection, "GC_RECORD(startNs, endNs, globalTid)", [(at(70_000), at(75_000), tid)])

    rank = small(tmp_path, mark)
    kinds = {
        (name, kind): start - EPOCH_NS for name, kind, start in rows_of(rank, "slices", "name", "kind", "start_ns")
    }
    assert kinds["forward", "annotation"] == 1_000
    assert kinds["forward", "device_annotation"] == 5_000
    assert kinds["GC", "gc"] == 70_000
    assert rows_of(rank, "instants", "ts_ns", "name") == [(at(2_000), "here")]


def test_counters_have_the_names_of_the_text_form(tmp_path: Path) -> None:
    def sample(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", [(1, "read"), (2, "app")])
        table(connection, "HBM(deviceId, timestampNs, bandwidth, hbmId, type)", [(0, at(1), 5_000_000, 3, 1)])
        table(connection, "NPU_MEM(type, ddr, hbm, timestampNs, deviceId)", [(2, 7, 11, at(2), 0)])
        table(connection, "HCCS(deviceId, timestampNs, txThroughput, rxThroughput)", [(0, at(3), 1.5, None)])
        table(connection, "RoCE(deviceId, timestampNs, bandwidth, funcId)", [(0, at(4), 9, 1)])

    found = rows_of(small(tmp_path, sample), "counters", "name", "series", "value")
    assert {name: (series, value) for name, series, value in found} == {
        "AI Core Freq": ("MHz", 1800.0),
        "HBM 3/Read": ("B/s", 5_000_000.0),
        "APP/DDR": ("B", 7.0),
        "APP/HBM": ("B", 11.0),
        "HCCS/txThroughput": ("value", 1.5),
        "Port 1/bandwidth": ("value", 9.0),
    }


def test_names_that_are_missing_in_some_batches_only_do_not_part_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def more(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO STRING_IDS VALUES (1, 'aic_mac_ratio')")
        table(connection, "TASK_PMU_INFO(globalTaskId, name, value)", [(0, 1, 0.25), (0, 77, 0.5), (0, b"\xff", 1.0)])

    monkeypatch.setattr(sqlite, "BATCH_ROWS", 1)
    rank = small(tmp_path, more)
    names = [name for name, _ in rows_of(rank, "reported_task_pmu_info", "name", "value")]
    assert names[0] == "aic_mac_ratio"
    assert len(names) == 3


def test_counters_without_any_time_are_lost_alone(tmp_path: Path) -> None:
    def more(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE AICORE_FREQ SET timestampNs = 'never'")

    rank = small(tmp_path, more)
    assert "AI Core Freq" not in rank.texts("counters", "name")
    assert rank.manifest["lost"] > 0


def test_counters_of_tasks_and_unknown_tables_are_kept(tmp_path: Path) -> None:
    def more(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO STRING_IDS VALUES (1, 'aic_mac_ratio')")
        table(connection, "TASK_PMU_INFO(globalTaskId, name, value)", [(0, 1, 0.25), (999, 1, 0.5)])
        table(connection, "SomethingNew(a, b)", [(1, "x"), (None, 2)])
        table(connection, "Empty(a)", [])

    rank = small(tmp_path, more)
    names = event_names(rank)
    counters = rows_of(rank, "reported_task_pmu_info", "event", "name", "value")
    assert [(names[event], name, value) for event, name, value in counters] == [
        ("aclnnMm_MatMulV2", "aic_mac_ratio", 0.25),
        ("", "aic_mac_ratio", 0.5),
    ]
    assert rows_of(rank, "reported_something_new", "a", "b") == [(1, "x"), (None, "2")]
    assert rows_of(rank, "reported_step_trace_time", "step", "computing", "free") == [("5", 24.0, 0.0)]
    assert "reported_empty" not in rank.table_names
    assert not {name for name in rank.table_names if name.startswith(("reported_enum", "reported_task_info"))}


def test_what_the_database_says_about_the_run(tmp_path: Path) -> None:
    rank = small(tmp_path)
    meta = {key: json.loads(value) for key, value in rows_of(rank, "meta", "key", "value")}
    assert meta["profiler_metadata.SCHEMA_VERSION"] == "1.0.0"
    assert meta["profiler_metadata.parallel_group_info"][COMM_NAME]["group_name"] == "dp"
    assert meta["rank_device_map"] == [{"rankId": 0, "deviceId": 0}]
    assert meta["profiler_info.rank_id"] == 0
    assert rows_of(rank, "groups", "group", "name", "size") == [(GROUP_ID, "dp", 2)]


# --- other schemas ---


def test_old_schema(tmp_path: Path) -> None:
    rank, new = (small(tmp_path / name, old=name == "old") for name in ("old", "new"))
    assert quality(rank) == {}
    for name, columns in {
        "kernels": ("stream", "op_type", "core_type", "shapes", "blocks", "task"),
        "collectives": ("group", "seq", "op", "dtype", "bytes"),
        "links": ("transport", "bytes", "plane"),
    }.items():
        assert joined(rank, name, *columns) == joined(new, name, *columns)
    slices = [sorted(rows_of(each, "slices", "name", "kind", "start_ns", "dur_ns", "link")) for each in (rank, new)]
    assert slices[0] == slices[1]


def test_a_database_that_a_viewer_changed(tmp_path: Path) -> None:
    folder = write_database(tmp_path, small_run())
    alter(folder / OUTPUT / DATABASE)
    rank = read(folder)
    assert quality(rank) == {}
    assert times(rank, "aclnnMm_Cast") == [(32_000, 4_000)]
    waits = {event_names(rank)[event]: wait for event, wait in rows_of(rank, "kernels", "event", "wait_ns")}
    assert (waits["aclnnMm_Cast"], waits["aclnnMm_MatMulV2"]) == (2_000, -1)
    assert rows_of(rank, "reported_overlap_analysis", "startNs") == [(at(10_000),)]


def test_floating_point_times_are_counted(tmp_path: Path) -> None:
    def real(connection: sqlite3.Connection) -> None:
        columns = "endNs, deviceId, connectionId, globalTaskId, taskType, streamId, taskId"
        connection.execute("ALTER TABLE TASK RENAME TO exact")
        connection.execute(
            "CREATE TABLE TASK AS SELECT CASE globalTaskId WHEN 0 THEN CAST(startNs AS REAL) ELSE startNs END "
            f"AS startNs, {columns} FROM exact"
        )
        connection.execute("DROP TABLE exact")

    rank = small(tmp_path, real)
    ((start, dur),) = times(rank, "aclnnMm_MatMulV2")
    assert start == int(float(EPOCH_NS + 10_000)) - EPOCH_NS != 10_000
    assert start + dur == 30_000
    assert quality(rank) == {"rounded-number": 1}


def test_swapped_shapes_and_types_are_put_right(tmp_path: Path) -> None:
    swap = "UPDATE PYTORCH_API SET inputShapes = inputDtypes, inputDtypes = inputShapes"
    rank = small(tmp_path, lambda connection: connection.execute(swap))
    details = {row[0]: row[2:] for row in joined(rank, "ops", "shapes", "dtypes")}
    assert details["aten::mm"] == ("32,64;64,16", "c10::BFloat16;c10::BFloat16")
    assert quality(rank) == {"columns-swapped": 5}


# --- damage ---


def test_bad_rows_cost_only_themselves(tmp_path: Path) -> None:
    def damage(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE PYTORCH_API SET startNs = 'yesterday' WHERE rowid = 1")
        connection.execute("UPDATE TASK SET endNs = NULL WHERE globalTaskId = 2")
        connection.execute("INSERT INTO TASK SELECT 0, 0, 0, 1, 98, 1, taskType, 0, 2, 9, 0 FROM TASK LIMIT 1")
        connection.execute("DELETE FROM STRING_IDS WHERE value = 'aten::copy_'")

    rank = small(tmp_path, damage)
    assert times(rank, "aten::mm") == [(1_000, 8_000)]
    assert times(rank, "(unnamed)") == [(30_000, 5_000)]
    assert quality(rank) == {"bad-value": 1, "no-time": 2, "time-zero": 1, "missing-string": 1}
    assert rank.manifest["lost"] == 3
    assert rows_of(rank, "steps", "step") == [(5,)]  # the operator that marks it is gone; STEP_TIME still says it


def test_a_cut_file_gives_what_is_left_or_a_reason(tmp_path: Path) -> None:
    folder = write_database(tmp_path, small_run(), analysis=False)
    path = folder / OUTPUT / DATABASE
    whole = path.read_bytes()
    kept = []
    for pages in range(1, len(whole) // 4096, 3):
        path.write_bytes(whole[: pages * 4096 + 100])
        try:
            (rank,) = open_run([folder]).ranks
        except InputError:
            continue
        kept.append(rank)
        assert {"truncated-file"} <= set(quality(rank))
    assert kept
    path.write_bytes(whole[:50])
    with pytest.raises(NotAProfileError, match="cannot be read as a SQLite file"):
        open_run([folder])


def test_hostile_names_stay_inside_the_store(tmp_path: Path) -> None:
    def evil(connection: sqlite3.Connection) -> None:
        connection.execute('CREATE TABLE "../../../out" ("a""b")')
        connection.execute('INSERT INTO "../../../out" VALUES (1)')
        connection.execute(
            "CREATE VIEW PLAN AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
        )

    rank = small(tmp_path, evil)
    (name,) = [name for name in rank.table_names if name.endswith("out")]
    assert name == "reported__________out"
    assert rows_of(rank, name, 'a"b') == [(1,)]


# --- which files are whose ---


def layout(tmp_path: Path, *names: str, run: AscendRun | None = None) -> list[tuple[int | None, str, str]]:
    """Rank, its origin and path for databases of these names."""
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write_tables(tmp_path / name, run or small_run())
    units = discover([tmp_path]).units
    return [(unit.rank, unit.parts[0].rank_origin, str(unit.path.relative_to(tmp_path))) for unit in units]


def without_map(path: Path) -> None:
    """Take the rank out of a database."""
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE RANK_DEVICE_MAP SET rankId = -1")
    connection.close()


def test_rank_of_the_info_file_counts_before_map_and_name(tmp_path: Path) -> None:
    folder = write_database(tmp_path, small_run(rank=1))
    (folder / "profiler_info_1.json").rename(folder / "profiler_info_6.json")
    (unit,) = discover([tmp_path]).units
    assert (unit.rank, unit.parts[0].rank_origin) == (6, "file name")
    (folder / "profiler_info_6.json").unlink()
    (folder / "profiler_metadata.json").write_text('{"distributed_args": {"rank": 4}}')
    (unit,) = discover([tmp_path]).units
    assert (unit.rank, unit.parts[0].rank_origin) == (4, "metadata")
    (folder / "profiler_metadata.json").unlink()
    (unit,) = discover([tmp_path]).units
    assert (unit.rank, unit.parts[0].rank_origin) == (1, "device map")
    without_map(folder / OUTPUT / "ascend_pytorch_profiler_1.db")
    (unit,) = discover([tmp_path]).units
    assert (unit.rank, unit.parts[0].rank_origin) == (1, "database name")


def test_many_databases_in_one_folder_are_many_ranks(tmp_path: Path) -> None:
    names = ("ascend_pytorch_profiler_0.db", "ascend_mindspore_profiler_1.db")
    for rank, name in enumerate(names):
        write_tables(tmp_path / name, small_run(rank=rank))
    units = discover([tmp_path]).units
    assert [(unit.rank, unit.path.name) for unit in units] == list(enumerate(names))


def test_the_output_folder_and_the_file_itself_may_be_given(tmp_path: Path) -> None:
    folder = write_database(tmp_path, small_run())
    for path in (folder, folder / OUTPUT, folder / OUTPUT / DATABASE):
        (unit,) = discover([path]).units
        assert (unit.rank, unit.path) == (0, folder)


def test_raw_databases_beside_the_output_are_no_ranks(tmp_path: Path) -> None:
    folder = write_database(tmp_path, small_run())
    (folder / "PROF_000001_20250101").mkdir()
    write_tables(folder / "PROF_000001_20250101" / "msprof_20250101120000.db", small_run())
    (unit,) = discover([tmp_path]).units
    assert unit.path == folder


def test_of_several_exports_the_last_counts(tmp_path: Path) -> None:
    (tmp_path / "PROF_1").mkdir()
    for stamp in ("20250101120000", "20250102120000"):
        write_tables(tmp_path / "PROF_1" / f"msprof_{stamp}.db", small_run())
    found = discover([tmp_path])
    (unit,) = found.units
    assert [path.name for path in unit.parts[0].files] == ["msprof_20250102120000.db"]
    assert [refusal.path.name for refusal in found.refusals] == ["msprof_20250101120000.db"]


def test_other_databases_are_left_alone_or_refused_with_a_reason(tmp_path: Path) -> None:
    for name, head in {
        "memscope_dump_1.db": "memscope_dump(ID, Event)",
        "msprof_20250101.db": "Users(name)",
        "notes.db": "Users(name)",
    }.items():
        with sqlite3.connect(tmp_path / name) as connection:
            connection.execute(f"CREATE TABLE {head}")
        connection.close()
    found = find_in(READER, tmp_path)
    assert found.sources == ()
    assert {refusal.path.name: refusal.reason.split(":")[0] for refusal in found.refusals} == {
        "memscope_dump_1.db": "a dump of the memory tool msmemscope",
        "msprof_20250101.db": "holds no table of an Ascend profile",
    }


def test_an_analysis_alone_keeps_its_tables(tmp_path: Path) -> None:
    folder = write_database(tmp_path, small_run())
    (folder / OUTPUT / DATABASE).unlink()
    (folder / OUTPUT / "analysis.db").rename(folder / OUTPUT / "analysis.dat")
    rank = read(folder)
    assert rank.table_names == ["meta", "reported_step_trace_time"]


def test_nothing_is_written_beside_the_databases(tmp_path: Path) -> None:
    folder = write_database(tmp_path, small_run())
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    os.utime(folder / OUTPUT, ns=(1, 1))
    read(folder)
    assert {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()
    } == before
    assert (folder / OUTPUT).stat().st_mtime_ns == 1


# --- real ranks ---


@pytest.mark.shared_data
@pytest.mark.parametrize("level", ["level0", "level2"])
def test_real_ranks_equal_what_the_profiler_reports(profiles: Path, level: str) -> None:
    run = open_run([profiles / "msinsight/pytorch_2rank/db" / level])
    rows = analyze_run(run, ["step-time"]).table("step_time").records()
    assert [(row["rank"], row["step"]) for row in rows] == [(0, 50), (1, 50)]
    columns = {
        "computing": "computing_ns", "communication_not_overlapped": "not_overlapped_ns", "overlapped": "overlapped_ns",
        "communication": "communication_ns", "free": "free_ns", "stage": "stage_ns", "preparing": "preparing_ns",
    }  # fmt: skip
    for rank, row in zip(run.ranks, rows, strict=True):
        (said,) = rows_of(rank, "reported_step_trace_time", *columns)
        assert {name: round(value * 1000) for name, value in zip(columns, said, strict=True)} == {
            name: row[ours] for name, ours in columns.items()
        }
        assert rank.manifest["lost"] == 0
        assert quality(rank)["columns-swapped"] == 860


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("level", "computing", "uncovered", "free"),
    [
        ("level0", [8_843_910, 8_831_637], [85_881_122, 90_000_781], [25_900_158, 26_748_231]),
        ("level2", [8_900_456, 8_926_368], [90_080_699, 96_293_920], [25_238_587, 25_228_138]),
    ],
)
def test_real_ranks_equal_the_published_figures(
    profiles: Path, level: str, computing: list[int], uncovered: list[int], free: list[int]
) -> None:
    run = open_run([profiles / "msinsight/pytorch_2rank/db" / level])
    rows = analyze_run(run, ["step-time"]).table("step_time").records()
    assert [row["computing_ns"] for row in rows] == computing
    assert [row["not_overlapped_ns"] for row in rows] == uncovered
    assert [row["free_ns"] for row in rows] == free


@pytest.mark.shared_data
def test_real_launches_are_found_for_every_task(profiles: Path) -> None:
    rank = read(profiles / "msinsight/pytorch_2rank/db/level2/rank0_ascend_pt")
    names = event_names(rank)
    called = {link for kind, link in rows_of(rank, "slices", "kind", "link") if kind == "runtime"}
    tasks = {event: link for event, kind, link in rows_of(rank, "slices", "event", "kind", "link") if kind == "kernel"}
    assert len(tasks) == 187
    assert set(tasks.values()) <= called
    copies = [
        names[operator]
        for event, operator in rows_of(rank, "kernels", "event", "external_id")
        if names[event] == "MEMCPY_ASYNC"
    ]
    # what the text form of the same job says
    assert {name: copies.count(name) for name in copies} == {
        "ReduceSum": 10, "aclnnInplaceCopy": 10, "acl_memcpy_host_to_device": 2, "aclnnDropoutGenMaskV2": 2,
    }  # fmt: skip


@pytest.mark.shared_data
def test_real_old_schema(profiles: Path) -> None:
    rank = read(profiles / "msinsight/_history/report_0_old_schema.db")
    kinds = [kind for (kind,) in rows_of(rank, "slices", "kind")]
    # 24 tasks: 11 compute, 8 carry out communication (these stand on the planes of a group too), 5 do neither; 3 calls
    assert {kind: kinds.count(kind) for kind in kinds} == {"kernel": 11, "comm_task": 16, "runtime": 3, "other": 5}
    assert len(rows_of(rank, "memory_events", "event")) == 494
    assert math.isnan(rank.column("links", "bandwidth")[0])
    assert rank.device == "Ascend910B"


@pytest.mark.shared_data
def test_real_analysis_of_several_devices(profiles: Path) -> None:
    rank = read(profiles / "msinsight/server_test_data/multiDevice/msprof_db")
    assert [row[0] for row in rows_of(rank, "reported_step_trace_time", "deviceId")] == [0, 1, 2, 3]
