"""The engine puts answers together and leaves out what is no rank."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.analyze.make_run import RankBuilder, make_run
from trainwright.analyze.engine import analyze_run
from trainwright.core.errors import InputError
from trainwright.trace.store import RankStore, Run


def test_rows_of_all_ranks_come_in_rank_order(tmp_path: Path) -> None:
    run = make_run([RankBuilder(rank).device("k", 0, 10 + rank) for rank in range(3)], tmp_path)
    rows = analyze_run(run, ["kernels"]).table("kernels").records()
    assert [(row["rank"], row["total_ns"]) for row in rows] == [(0, 10), (1, 11), (2, 12)]


def test_a_summary_of_the_cluster_is_no_rank(tmp_path: Path) -> None:
    run = make_run([RankBuilder(rank).device("k", 0, 10) for rank in range(2)], tmp_path)
    first, second = run.ranks
    part = replace(second.unit.parts[0], options={"role": "cluster"})
    summary = RankStore(folder=second.folder, unit=replace(second.unit, parts=(part,)))
    assert analyze_run(Run(ranks=[first, summary]), ["ranks"]).table("ranks").column("rank") == [0]
    assert analyze_run(Run(ranks=[summary]), ["ranks"]).table("ranks").column("rank") == [1]


def test_an_unknown_analysis_is_wrong_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no analysis called 'nothing'"):
        analyze_run(make_run([RankBuilder(0).device("k", 0, 1)], tmp_path), ["nothing"])
