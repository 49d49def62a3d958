"""Ranks get their numbers; summaries of a cluster get none."""

from __future__ import annotations

from pathlib import Path

from tests.trace.make_trace import slice_event, write_trace
from trainwright.trace.discover import discover


def test_a_cluster_summary_beside_ranks_takes_no_rank_number(tmp_path: Path) -> None:
    write_trace(tmp_path / "rank0.json", [slice_event("a", 1, 2)])
    folder = tmp_path / "cluster_analysis_output"
    folder.mkdir()
    (folder / "cluster_step_trace_time.csv").write_text("Step,Type,Index,Computing\n1,rank,0,5\n")
    found = discover([tmp_path])
    assert [(unit.rank, unit.is_summary) for unit in found.units] == [(0, False), (-1, True)]
    assert found.quality == []
