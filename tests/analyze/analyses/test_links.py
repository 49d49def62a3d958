"""Links between ranks."""

from __future__ import annotations

from pathlib import Path

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.links import analyze


def test_bytes_time_and_bandwidth_by_pair(tmp_path: Path) -> None:
    builder = RankBuilder(2).row("groups", group="tp", size=2, ranks="[4, 6]")
    builder.comm_task("Memcpy", 0, 100, group="tp", src=0, dst=1, transport="HCCS", bytes=300)
    builder.comm_task("Memcpy", 100, 200, group="tp", src=0, dst=1, transport="HCCS", bytes=100)
    builder.comm_task("Memcpy", 200, 250, group="other", src=0, dst=1, transport="RDMA", bytes=50)
    builder.comm_task("Notify_Wait", 250, 900, group="tp", src=0, dst=1, transport="HCCS", bytes=0)
    assert analyze(builder.build(tmp_path)).table("links").rows == [
        (2, 0, 1, "RDMA", 1, 50, 50, 1.0),
        (2, 4, 6, "HCCS", 2, 400, 200, 2.0),
    ]


def test_a_rank_without_links_has_no_rows(tmp_path: Path) -> None:
    assert analyze(RankBuilder().comm("ar", 0, 1).build(tmp_path)).table("links").rows == []
