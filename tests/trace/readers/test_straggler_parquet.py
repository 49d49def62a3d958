"""Straggler traces in Parquet: workers, laid-out steps, exact times, groups that match across ranks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.trace.read_source import find_in, read_source, rows_of
from trainwright.trace.ingest import open_run
from trainwright.trace.readers.straggler_parquet import READER
from trainwright.trace.store import RankStore

#: (dp, stage, step, operator, start s, duration s, seq); two stages, two replicas, two steps that each start at 0.
ROWS = [
    (dp, stage, step, name, start, dur, seq)
    for step, slower in ((7, 1.0), (9, 2.0))
    for dp in (0, 1)
    for stage, name, start, dur, seq in (
        (0, "forward-compute", 0.0, 0.5 * slower, 0),
        (0, "forward-send", 0.5 * slower, 0.25, 0),
        (1, "forward-recv", 0.0, 0.5 * slower + 0.25, 0),
        (1, "backward-compute", 1.5, 0.5, 0),
        (0, "grads-reduce-scatter", 2.0, 0.125, 0),
        (1, "grads-reduce-scatter", 2.0, 0.0625, 0),
        (1, "gc", 2.5, 0.0, 0),
        (1, "optimizer-clip-main-grad", 2.5, 0.25, 0),
    )
]
META = "trial_name: T\ndp_size: 2\npp_size: 2\ntp_size: 4\nworld_size: 16\n"


def write(path: Path, rows: list[tuple[object, ...]] = ROWS, **columns: object) -> Path:
    """A trace as the published ones are: float32 seconds, a dictionary of operators."""
    dp, stage, step, name, start, dur, seq = zip(*rows, strict=True)
    data: dict[str, object] = {
        "dp_rank": pa.array(dp, pa.int8()),
        "stage": pa.array(stage, pa.int8()),
        "step": pa.array(step, pa.int64()),
        "optype": pa.array(name).dictionary_encode(),
        "start_ts": pa.array(start, pa.float32()),
        "duration": pa.array(dur, pa.float32()),
        "seq_id": pa.array(seq, pa.int32()),
        **columns,
    }
    pq.write_table(pa.table({key: value for key, value in data.items() if value is not None}), path)
    return path


def ranks_of(path: Path, tmp_path: Path) -> dict[int, RankStore]:
    """All workers of a file, read."""
    sources = find_in(READER, path).sources
    return {source.rank: read_source(READER, source, tmp_path / f"store{source.rank}") for source in sources}


def test_workers_are_numbered_in_the_order_of_megatron(tmp_path: Path) -> None:
    write(tmp_path / "trace-T.parquet")
    (tmp_path / "meta-T.yaml").write_text(META)
    sources = find_in(READER, tmp_path).sources
    # rank = tp + 4 * (dp + 2 * stage), tp 0
    assert [(s.rank, s.options["dp_rank"], s.options["stage"]) for s in sources] == [
        (0, "0", "0"), (4, "1", "0"), (8, "0", "1"), (12, "1", "1"),
    ]  # fmt: skip
    assert {s.rank_origin for s in sources} == {"content"}


def test_a_rank_column_wins(tmp_path: Path) -> None:
    ranks = pa.array([100 + 10 * row[1] + row[0] for row in ROWS], pa.int16())
    path = write(tmp_path / "t.parquet", rank=ranks)
    assert [source.rank for source in find_in(READER, path).sources] == [100, 101, 110, 111]


def test_steps_that_start_over_follow_each_other(tmp_path: Path) -> None:
    rank = ranks_of(write(tmp_path / "t.parquet"), tmp_path)[0]
    # step 7 lasts until the clip ends at 2.75 s, and so does step 9
    assert rows_of(rank, "steps", "step", "start_ns", "end_ns", "origin") == [
        (7, 0, 2_750_000_000, "marked"),
        (9, 2_750_000_000, 5_500_000_000, "marked"),
    ]
    compute = rank.kind("kernel")
    assert rank.column("slices", "start_ns")[compute].tolist() == [0, 2_750_000_000]
    assert rank.column("slices", "dur_ns")[compute].tolist() == [500_000_000, 1_000_000_000]


def test_absolute_times_stay(tmp_path: Path) -> None:
    rows = [(0, 0, step, "forward-compute", 100.0 * step, 1.0, 0) for step in (1, 2, 3)]
    rank = ranks_of(write(tmp_path / "t.parquet", rows), tmp_path)[0]
    assert rank.column("slices", "start_ns").tolist() == [100 * 10**9, 200 * 10**9, 300 * 10**9]
    assert rows_of(rank, "steps", "start_ns", "end_ns")[2] == (300 * 10**9, 301 * 10**9)


def test_epoch_times_keep_their_digits(tmp_path: Path) -> None:
    start = pa.array([1_700_000_000.25, 1_700_000_001.5], pa.float64())
    rows = [(0, 0, step, "optimizer", 0.0, 0.5, 0) for step in (1, 2)]
    rank = ranks_of(write(tmp_path / "t.parquet", rows, start_ts=start), tmp_path)[0]
    assert rank.column("slices", "start_ns").tolist() == [1_700_000_000_250_000_000, 1_700_000_001_500_000_000]


def test_kinds_and_tracks(tmp_path: Path) -> None:
    ranks = ranks_of(write(tmp_path / "t.parquet"), tmp_path)
    names = ranks[2].texts("slices", "name")
    kinds = dict(zip((names[code] for code in ranks[2].column("slices", "name")),
                     ranks[2].table("slices")["kind"].to_pylist(), strict=True))  # fmt: skip
    assert kinds == {
        "forward-recv": "comm",
        "backward-compute": "kernel",
        "grads-reduce-scatter": "comm",
        "gc": "gc",
        "optimizer-clip-main-grad": "comm",
    }
    sides = {row["thread"]: row["side"] for row in ranks[2].table("tracks").to_pylist()}
    assert sides == {"compute": "device", "pp-comm": "device", "dp-comm": "device", "gc and data": "host"}


def test_groups_and_numbers_agree_between_ranks(tmp_path: Path) -> None:
    ranks = ranks_of(write(tmp_path / "t.parquet"), tmp_path)
    found = {
        number: {
            (op, group): (seq, size, peer)
            for op, group, seq, size, peer in rows_of(rank, "collectives", "op", "group", "seq", "group_size", "peer")
        }
        for number, rank in ranks.items()
    }
    # without a job file tp_size is 1: ranks 0, 1 are stage 0 and ranks 2, 3 stage 1; step 9 is number 1
    assert found[0][("send", "pp 0-2 forward")] == (1, 2, 2)
    assert found[2][("recv", "pp 0-2 forward")] == (1, 2, 0)
    assert found[0][("reducescatter", "dp stage0")] == found[1][("reducescatter", "dp stage0")] == (1, 2, -1)
    assert found[2][("allreduce", "world")] == (1, 4, -1)
    members = {row["group"]: json.loads(row["ranks"]) for row in ranks[2].table("groups").to_pylist()}
    assert members == {"pp 0-2 forward": [0, 2], "dp stage1": [2, 3], "world": [0, 1, 2, 3]}


def test_rows_without_a_time_are_counted(tmp_path: Path) -> None:
    start = pa.array([float("nan"), None, *[float(row[4]) for row in ROWS[2:]]], pa.float32())
    rank = ranks_of(write(tmp_path / "t.parquet", start_ts=start), tmp_path)[0]
    # rows 0 and 1 are the first two of (dp 0, stage 0), which has 3 rows in each of 2 steps
    assert (rank.manifest["events"], rank.manifest["lost"], rank.rows("slices")) == (6, 2, 4)
    assert [(entry.code, entry.count) for entry in rank.quality] == [("no-time", 2)]


def test_columns_that_nothing_else_holds_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", mb_id=pa.array(range(len(ROWS)), pa.int8()))
    kept = ranks_of(path, tmp_path)[0].table("reported_straggler_trace").to_pydict()
    assert kept["step"] == [7, 7, 7, 9, 9, 9]
    assert kept["mb_id"] == [0, 1, 4, 16, 17, 20]
    assert kept["event"] == list(range(6))


def test_what_is_not_a_straggler_trace(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    write(tmp_path / "part.parquet", duration=None)
    (tmp_path / "cut.parquet").write_bytes(write(tmp_path / "t.parquet").read_bytes()[:200])
    (tmp_path / "t.parquet").unlink()
    found = find_in(READER, tmp_path)
    assert not found.sources
    reasons = {refusal.path.name: refusal.reason for refusal in found.refusals}
    assert reasons.keys() == {"part.parquet", "cut.parquet"}
    assert "duration" in reasons["part.parquet"]


@pytest.mark.shared_data
def test_the_published_trace(profiles: Path) -> None:
    run = open_run([profiles / "bytedance_straggler" / "trace-AR.parquet"], jobs=1)
    assert [rank.rank for rank in run.ranks] == list(range(0, 64, 4))
    assert sum(rank.manifest["events"] for rank in run.ranks) == 117_216
    published = json.loads((profiles / "bytedance_straggler" / "result-AR.json").read_text())["step_t_base"]
    steps = rows_of(run.ranks[0], "steps", "step", "start_ns", "end_ns")
    assert [str(step) for step, _, _ in steps] == sorted(published, key=int)
    # the published sums are float32, whose grain at 46 s is 3.8 us
    length = np.array([end - start for _, start, end in steps])
    assert np.abs(length - np.array([published[str(step)] * 1e9 for step, _, _ in steps])).max() < 4_000
