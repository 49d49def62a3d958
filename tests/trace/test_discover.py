"""Ranks get their numbers; summaries of a cluster get none."""

from __future__ import annotations

import os
from pathlib import Path

from tests.trace.make_trace import slice_event, write_trace
from trainwright.trace.discover import discover
from trainwright.trace.ingest import open_run


def test_a_cluster_summary_beside_ranks_takes_no_rank_number(tmp_path: Path) -> None:
    write_trace(tmp_path / "rank0.json", [slice_event("a", 1, 2)])
    folder = tmp_path / "cluster_analysis_output"
    folder.mkdir()
    (folder / "cluster_step_trace_time.csv").write_text("Step,Type,Index,Computing\n1,rank,0,5\n")
    found = discover([tmp_path])
    assert [(unit.rank, unit.is_summary) for unit in found.units] == [(0, False), (-1, True)]
    assert found.quality == []


def test_what_a_link_gives_a_second_time_is_reported(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    trace = write_trace(tmp_path / "run" / "rank0.json", [slice_event("a", 1, 2)])
    (tmp_path / "run" / "rank1.json").symlink_to(trace)
    (tmp_path / "run" / "latest").symlink_to(tmp_path / "run")
    found = discover([tmp_path / "run"])
    assert [unit.rank for unit in found.units] == [0]
    notes = sorted((Path(note.file).name, note.code) for note in found.quality)
    assert notes == [("latest", "linked-twice"), ("rank1.json", "linked-twice")]
    assert "read once" in found.quality[0].example


def test_inputs_that_overlap_are_read_once_without_a_word(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "rank0.json", [slice_event("a", 1, 2)])
    found = discover([tmp_path, trace])
    assert len(found.units) == 1
    assert found.quality == []


def test_names_that_are_not_utf_8_are_read_and_shown(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"r\xfcn")
    folder.mkdir()
    write_trace(folder / os.fsdecode(b"rank0_\xff.json"), [slice_event("a", 1, 2)])
    (rank,) = open_run([folder]).ranks
    assert rank.rows("slices") == 1
