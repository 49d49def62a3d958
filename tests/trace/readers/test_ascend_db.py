"""The Ascend database reader (`ascend_db`): a small generated file, and the figures of real ranks to the nanosecond."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from trainwright.analyze.engine import analyze_run
from trainwright.trace.ingest import open_run


def write_db(path: Path) -> None:
    """Two compute tasks and one communication operator on epoch nanoseconds."""
    start = 1_736_412_474_725_417_508
    with sqlite3.connect(path) as db:
        db.executescript(
            """
            CREATE TABLE STRING_IDS (id INTEGER, value TEXT);
            CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,
                globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER,
                taskId INTEGER, modelId INTEGER);
            CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, blockDim INTEGER, mixBlockDim INTEGER,
                taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
                outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER);
            CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,
                groupName INTEGER, opId INTEGER, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER,
                count INTEGER, opType INTEGER);
            CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
            """
        )
        texts = [
            "MatMul1",
            "MatMul",
            "AI_CORE",
            "hcom_allReduce__586_0_1",
            "group",
            "KERNEL_AICORE",
            "ND",
            "hcom_allReduce_",
        ]
        db.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(texts))
        for task, (begin, end) in enumerate([(0, 40), (30, 60)]):
            row = (start + begin, start + end, 4, task, task, 1, 5, 0, 2, task, 0)
            db.execute(f"INSERT INTO TASK VALUES ({','.join('?' * 11)})", row)
            db.execute(f"INSERT INTO COMPUTE_TASK_INFO VALUES ({','.join('?' * 13)})", (0, task, 20, 0, 2, 1, *[6] * 7))
        row = (3, start + 50, start + 100, 9, 4, 0, 0, 0, 0, 0, 1024, 7)
        db.execute(f"INSERT INTO COMMUNICATION_OP VALUES ({','.join('?' * 12)})", row)
        db.execute("INSERT INTO RANK_DEVICE_MAP VALUES (2, 4)")
    db.close()


def test_a_small_database_gives_exact_times_and_its_own_rank(tmp_path: Path) -> None:
    folder = tmp_path / "host_1_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    write_db(folder / "ascend_pytorch_profiler_2.db")
    before = (folder / "ascend_pytorch_profiler_2.db").read_bytes()
    run = open_run([tmp_path])
    assert [rank.rank for rank in run.ranks] == [2]
    (row,) = analyze_run(run, ["step-time"]).table("step_time").records()
    assert (row["computing_ns"], row["communication_ns"], row["overlapped_ns"], row["free_ns"]) == (60, 50, 10, 0)
    assert run.ranks[0].start_ns == 1_736_412_474_725_417_508
    assert (folder / "ascend_pytorch_profiler_2.db").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["ascend_pytorch_profiler_2.db"]


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("level", "computing", "uncovered", "free"),
    [
        ("level0", [8_843_910, 8_831_637], [85_881_122, 90_000_781], [25_900_158, 26_748_231]),
        ("level2", [8_900_456, 8_926_368], [90_080_699, 96_293_920], [25_238_587, 25_228_138]),
    ],
)
def test_real_ranks_equal_their_step_trace_time(
    profiles: Path, level: str, computing: list[int], uncovered: list[int], free: list[int]
) -> None:
    run = open_run([profiles / "msinsight/pytorch_2rank/db" / level])
    rows = [row for row in analyze_run(run, ["step-time"]).table("step_time").records() if row["step"] is not None]
    assert [row["computing_ns"] for row in rows] == computing
    assert [row["not_overlapped_ns"] for row in rows] == uncovered
    assert [row["free_ns"] for row in rows] == free
    assert sum(int(rank.manifest["lost"]) for rank in run.ranks) == 0
