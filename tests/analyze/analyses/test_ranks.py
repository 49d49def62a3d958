"""What was read of each rank."""

from __future__ import annotations

from pathlib import Path

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.ranks import analyze


def test_one_row(tmp_path: Path) -> None:
    builder = RankBuilder(5, device="Ascend910B", host="node-1").damage(lost=2, repaired=1)
    rank = builder.host("a", 100, 130).device("k", 120, 180).build(tmp_path)
    row = (5, "Ascend910B", "node-1", 2, 2, 1, "source5.json", 100, 80)
    assert analyze(rank).table("ranks").rows == [row]


def test_unknown_device_and_host(tmp_path: Path) -> None:
    record = analyze(RankBuilder().host("a", 0, 1).build(tmp_path)).table("ranks").records()[0]
    assert (record["device"], record["host"]) == ("cpu", None)


def test_tables_from_different_files_are_named(tmp_path: Path) -> None:
    rank = RankBuilder().host("a", 0, 1).build(tmp_path)
    rank.manifest["used"] = {"slices": ["trace.json"], "memory_usage": ["a.csv", "b.csv"]}
    record = analyze(rank).table("ranks").records()[0]
    assert record["source"] == "memory_usage: a.csv, b.csv; slices: trace.json"
