"""Cluster reports: kept as tables, never a rank of the run they describe."""

from __future__ import annotations

import json
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.trace.make_trace import slice_event, write_trace
from tests.trace.read_source import find_in, read_source, rows_of
from trainwright.core.errors import InputError
from trainwright.trace.discover import discover
from trainwright.trace.ingest import open_run
from trainwright.trace.readers.cluster_output import READER
from trainwright.trace.store import RankStore

HEAD = "Step,Type,Index,Computing,Communication(Not Overlapped)\n"
BANDWIDTH = {"Transit Size(MB)": 2, "Bandwidth(GB/s)": 0.5, "Size Distribution": {"2": [1, 4.0]}}
COMMUNICATION = {
    "p2p": {
        "step2": {
            "hcom_send__822_0@77": {
                "3": {
                    "Communication Time Info": {"Start Timestamp(us)": "START", "Elapse Time(ms)": 1},
                    "Communication Bandwidth Info": {"RDMA": BANDWIDTH, "HCCS": {"Bandwidth(GB/s)": 0}},
                }
            }
        }
    }
}


def output(tmp_path: Path, files: dict[str, Any]) -> Path:
    """A ``cluster_analysis_output`` with the given files; values that are no text are written as JSON."""
    folder = tmp_path / "cluster_analysis_output"
    folder.mkdir(parents=True)
    for name, value in files.items():
        text = value if isinstance(value, str) else json.dumps(value)
        (folder / name).write_text(text.replace('"START"', "1695115378810042.508"))
    return folder


def read(folder: Path, tmp_path: Path) -> RankStore:
    """The only source of a folder."""
    (source,) = find_in(READER, folder).sources
    return read_source(READER, source, tmp_path / "store")


def test_step_times_are_kept_as_written(tmp_path: Path) -> None:
    folder = output(tmp_path, {"cluster_step_trace_time.csv": HEAD + "2,rank,0,75174.5,146614.25\n2,stage,1,N/A,3\n"})
    rank = read(folder, tmp_path)
    assert rank.table("reported_cluster_step_trace_time").to_pydict() == {
        "Step": [2, 2],
        "Type": ["rank", "stage"],
        "Index": [0, 1],
        "Computing": [75174.5, None],
        "Communication(Not Overlapped)": [146614.25, 3.0],
    }
    assert (rank.manifest["events"], rank.manifest["lost"], rank.rows("slices")) == (2, 0, 0)


def test_communication_is_flattened(tmp_path: Path) -> None:
    rank = read(output(tmp_path, {"cluster_communication.json": COMMUNICATION}), tmp_path)
    assert rank.table("reported_cluster_communication_time").to_pylist() == [
        {
            "group": "p2p",
            "step": "step2",
            "op": "hcom_send__822_0@77",
            "of_rank": "3",
            "Start Timestamp(us)": Decimal("1695115378810042.508"),
            "Elapse Time(ms)": 1,
        }
    ]
    bandwidth = rows_of(rank, "reported_cluster_communication_bandwidth", "transport", "Bandwidth(GB/s)",
                        "Transit Size(MB)", "Size Distribution")  # fmt: skip
    assert bandwidth == [("RDMA", 0.5, 2, '{"2": [1, 4.0]}'), ("HCCS", 0.0, None, None)]
    assert rank.manifest["events"] == 3


def test_matrix_has_sources_and_destinations(tmp_path: Path) -> None:
    link = {"Transport Type": "RDMA", "Transit Size(MB)": 20.5}
    matrix = {"(0, 8)": {"step2": {"Total Op Info": {"0-8": link, "odd": link}, "broken": 5}}}
    rank = read(output(tmp_path, {"cluster_communication_matrix.json": matrix}), tmp_path)
    names = ("group", "op", "src", "dst", "Transport Type", "Transit Size(MB)")
    assert rows_of(rank, "reported_cluster_communication_matrix", *names) == [
        ("(0, 8)", "Total Op Info", 0, 8, "RDMA", 20.5),
        ("(0, 8)", "Total Op Info", -1, -1, "RDMA", 20.5),
    ]
    assert (rank.manifest["events"], rank.manifest["lost"]) == (2, 1)
    assert [entry.code for entry in rank.quality] == ["unexpected-json"]


def test_groups_of_new_and_old_files(tmp_path: Path) -> None:
    new = {
        "collective": [[1, 0]],
        "p2p": [[0, 1, 2]],
        "comm_group_parallel_info": [
            {"type": "collective", "rank_set": [1, 0], "group_name": "696", "pg_name": "tp"},
            {"type": "collective", "rank_set": "damaged", "group_name": "7"},
        ],
    }
    folder = output(tmp_path, {"communication_group.json": new})
    rank = read(folder, tmp_path)
    assert rows_of(rank, "groups", "group", "name", "size", "ranks") == [("696", "tp", 2, "[0, 1]")]
    assert [(entry.code, entry.count) for entry in rank.quality] == [("bad-group", 1)]
    old = output(tmp_path / "old", {"communication_group.json": {"collective": [[0, 1]], "p2p": [[0, 1, 2]]}})
    assert rows_of(read(old, tmp_path / "old"), "groups", "group", "size", "ranks") == [
        ("collective [0, 1]", 2, "[0, 1]"),
        ("p2p [0, 1, 2]", 3, "[0, 1, 2]"),
    ]


def test_database_tables(tmp_path: Path) -> None:
    folder = output(tmp_path, {})
    database = sqlite3.connect(folder / "cluster_analysis.db")
    database.execute("CREATE TABLE ClusterStepTraceTime (step TEXT, type TEXT, computing REAL)")
    database.execute("INSERT INTO ClusterStepTraceTime VALUES ('2', 'rank', 75.5), (NULL, 'stage', 'N/A')")
    database.execute("CREATE TABLE CommunicationGroupMapping (type TEXT, rank_set TEXT, group_name TEXT, pg_name TEXT)")
    database.execute("INSERT INTO CommunicationGroupMapping VALUES ('collective', '(4,0)', '99', 'pp')")
    database.execute('CREATE TABLE "../evil name" (a INT)')
    database.execute('INSERT INTO "../evil name" VALUES (1)')
    database.commit()
    database.close()
    before = sorted(path.name for path in folder.iterdir())
    rank = read(folder, tmp_path)
    assert rows_of(rank, "reported_ClusterStepTraceTime", "step", "type", "computing") == [
        ("2", "rank", "75.5"), (None, "stage", "N/A"),
    ]  # fmt: skip
    assert rows_of(rank, "groups", "group", "name", "size", "ranks") == [("99", "pp", 2, "[0, 4]")]
    assert rank.table("reported____evil_name").to_pydict() == {"a": [1]}
    assert rank.manifest["events"] == 4
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_folder_is_taken_whole_and_is_no_rank(tmp_path: Path) -> None:
    folder = output(tmp_path, {"cluster_step_trace_time.csv": HEAD + "2,rank,0,1,2\n", "recipe.json": {"a": 1}})
    (folder / "SlowRank").mkdir()
    (source,) = find_in(READER, folder).sources
    assert source.options == {"role": "cluster"}
    assert source.rank is None
    assert {path.name for path in source.covers} == {"cluster_step_trace_time.csv", "recipe.json", "SlowRank"}
    assert rows_of(read(folder, tmp_path), "meta", "key", "value") == [("recipe", '{"a": 1}')]


def test_files_beside_a_trace(tmp_path: Path) -> None:
    write_trace(tmp_path / "rank0.json", [slice_event("a", 1, 1)])
    (tmp_path / "communication_group.json").write_text('{"collective": [[0, 1]], "p2p": []}')
    (tmp_path / "communication_group_x.json").write_text('{"other": 1}')
    roles = {unit.path.name: unit.parts[0].options.get("role") for unit in discover([tmp_path]).units}
    assert roles == {"rank0.json": None, "communication_group.json": "cluster"}


def test_a_bad_file_costs_itself(tmp_path: Path) -> None:
    files = {"cluster_communication.json": "{", "cluster_step_trace_time.csv": HEAD + "2,rank,0,1,2\n"}
    rank = read(output(tmp_path, files), tmp_path)
    assert rank.rows("reported_cluster_step_trace_time") == 1
    assert [(entry.code, Path(entry.file).name) for entry in rank.quality] == [
        ("file-not-read", "cluster_communication.json")
    ]


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    folder = output(tmp_path, {"cluster_communication.json": "{"})
    with pytest.raises(InputError, match="not valid JSON"):
        read(folder, tmp_path)


@pytest.mark.shared_data
def test_real_output(profiles: Path) -> None:
    run = open_run([profiles / "msinsight" / "server_test_data" / "cluster_analysis_output"])
    (rank,) = run.ranks
    steps = rows_of(rank, "reported_cluster_step_trace_time", "Type", "Index", "Computing", "Bubble")
    assert len(steps) == 18  # 16 ranks and two stages
    assert steps[0] == ("rank", "0", 75174.57464453117, 0.0)
    names = ("group", "op", "src", "dst", "Transport Type", "Bandwidth(GB/s)")
    assert ("p2p", "hcom_send__822_0@13337953553061386822", 0, 8, "RDMA", 24.2778) in rows_of(
        rank, "reported_cluster_communication_matrix", *names
    )
    assert rank.rows("groups") == 29
    assert not rank.quality
