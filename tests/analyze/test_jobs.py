"""Ranks are told apart by job: by the numbers they claim, the folders they lie in, and their times."""

from __future__ import annotations

from pathlib import Path

from tests.analyze.make_run import RankBuilder, make_run
from trainwright.analyze.jobs import CLOCKS_APART_NS, describe_jobs, job_numbers

EPOCH_NS = 1_700_000_000 * 10**9


def jobs(folder: Path, *ranks: tuple[int, str, int]) -> list[int]:
    """Jobs of ranks given as claimed number, folder and start, each a second long."""
    builders = [
        RankBuilder(at, claims=claims, place=place).device("k", start, start + 10**9)
        for at, (claims, place, start) in enumerate(ranks)
    ]
    return job_numbers(make_run(builders, folder).ranks)


def test_ranks_that_do_not_collide_are_one_job_wherever_they_lie(tmp_path: Path) -> None:
    assert jobs(tmp_path, (0, "node0/a", 0), (1, "node0/b", 0), (2, "node1/a", 0)) == [0, 0, 0]


def test_folders_whose_ranks_collide_are_jobs(tmp_path: Path) -> None:
    ranks = [(0, "a/node0", 0), (1, "a/node1", 0), (0, "b/node0", 0), (1, "b/node1", 0)]
    assert jobs(tmp_path, *ranks) == [0, 0, 1, 1]


def test_a_collision_of_one_rank_parts_whole_folders(tmp_path: Path) -> None:
    assert jobs(tmp_path, (0, "a", 0), (1, "a", 0), (1, "b", 0), (2, "b", 0)) == [0, 0, 1, 1]


def test_recordings_in_one_folder_are_told_apart_in_order(tmp_path: Path) -> None:
    assert jobs(tmp_path, (0, "", 0), (1, "", 0), (0, "", 0), (1, "", 0), (0, "", 0)) == [0, 0, 1, 1, 2]


def test_ranks_whose_times_lie_apart_are_two_jobs(tmp_path: Path) -> None:
    far = EPOCH_NS + 10**9 + CLOCKS_APART_NS
    assert jobs(tmp_path, (0, "", EPOCH_NS), (1, "", far)) == [0, 0]
    assert jobs(tmp_path, (0, "", EPOCH_NS), (1, "", far + 1)) == [0, 1]


def test_clocks_that_do_not_count_from_the_epoch_do_not_compare(tmp_path: Path) -> None:
    assert jobs(tmp_path, (0, "", 10**9), (1, "", 10**12)) == [0, 0]
    assert jobs(tmp_path, (0, "", 10**9), (1, "", EPOCH_NS)) == [0, 0]


def test_jobs_in_words(tmp_path: Path) -> None:
    run = make_run([RankBuilder(rank).device("k", 0, 1) for rank in (0, 1, 2, 5)], tmp_path)
    assert describe_jobs(run.ranks, [0, 0, 0, 1]) == "ranks 0-2; rank 5"
