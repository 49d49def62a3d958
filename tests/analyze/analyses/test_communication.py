"""Communication operators by size with bandwidths, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.communication import BOUNDS, analyze, bucket_labels

MIB = 1 << 20


def test_bandwidths(tmp_path: Path) -> None:
    builder = RankBuilder(4)
    builder.comm("ar", 0, 1_000_000, group="dp", group_size=4, bytes=2 * MIB, algorithm="RING")
    builder.comm("ar", 2_000_000, 5_000_000, group="dp", group_size=4, bytes=2 * MIB, algorithm="RING")
    (row,) = analyze(builder.build(tmp_path)).table("communication").rows
    assert row[:11] == (4, "allreduce", "dp", 4, "1 MiB - 4 MiB", "RING", 2, 4_000_000, 1_000_000, 3_000_000, 4 * MIB)
    assert row[11] == pytest.approx(4 * MIB / 4_000_000)  # 1.05 GB/s
    assert row[12] == pytest.approx(1.5 * 4 * MIB / 4_000_000)
    assert row[13] is None


def test_what_is_not_known_stays_empty(tmp_path: Path) -> None:
    builder = RankBuilder().comm("ar", 0, 10).comm("bc", 20, 25, op="broadcast", bytes=1024, group="g")
    rows = analyze(builder.build(tmp_path)).table("communication").records()
    assert [(row["size_bucket"], row["bytes"], row["algorithm_bandwidth"], row["bus_bandwidth"]) for row in rows] == [
        ("unknown", None, None, None),
        ("1 KiB - 4 KiB", 1024, 1024 / 5, 1024 / 5),
    ]
    assert [(row["group"], row["group_size"]) for row in rows] == [(None, None), ("g", None)]


def test_an_operator_without_duration_has_no_bandwidth(tmp_path: Path) -> None:
    (row,) = analyze(RankBuilder().comm("ar", 5, 5, bytes=8).build(tmp_path)).table("communication").records()
    assert (row["bytes"], row["algorithm_bandwidth"]) == (8, None)


def test_transports_of_a_row_are_those_of_its_operators(tmp_path: Path) -> None:
    builder = RankBuilder().comm("ar", 0, 100, group="tp").comm("ar", 200, 300, group="tp")
    builder.comm_task("hop", 10, 20, group="tp", transport="HCCS", bytes=9)
    builder.comm_task("hop", 210, 220, group="tp", transport="RDMA", bytes=9)
    (row,) = analyze(builder.build(tmp_path)).table("communication").records()
    assert row["transport"] == "HCCS, RDMA"


def test_buckets_have_readable_names() -> None:
    labels = bucket_labels()
    assert len(labels) == len(BOUNDS) + 2
    assert labels[:2] == ["below 1 KiB", "1 KiB - 4 KiB"]
    assert labels[-2:] == ["from 1 TiB", "unknown"]
    assert np.all(np.diff(np.log2(BOUNDS)) == 2)


def test_the_total_is_that_of_all_communication(tmp_path: Path) -> None:
    builder = RankBuilder()
    for at in range(20):
        builder.comm("c", 100 * at, 100 * at + at, op=("allreduce", "send")[at % 2], bytes=4**at, group=str(at % 3))
    table = analyze(builder.build(tmp_path)).table("communication")
    assert sum(table.column("total_ns")) == sum(range(20))
    assert sum(table.column("bytes")) == sum(4**at for at in range(20))
