"""Times that cannot be right: which slices they are, and that they stretch nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analyze.make_run import RankBuilder, make_run
from trainwright.analyze.analyses.ranks import analyze as ranks
from trainwright.analyze.analyses.step_time import analyze as step_time
from trainwright.trace.stray import STRAY_FACTOR, STRAY_NS, stray_starts

EPOCH_NS = 1_700_000_000 * 10**9


def stray(*starts: int, device: tuple[int, ...] = ()) -> list[int]:
    """The starts that are stray; those in `device` are of the device's side."""
    every = np.array([*starts, *device], np.int64)
    on_device = np.arange(len(every)) >= len(starts)
    return [int(time) for time in every[stray_starts(every, on_device)]]


def test_a_start_is_stray_beyond_an_hour_from_the_middle_half() -> None:
    # the middle half of 5 starts is the second to the fourth: 10 to 30
    assert stray(0, 10, 20, 30, 30 + STRAY_NS) == []
    assert stray(0, 10, 20, 30, 31 + STRAY_NS) == [31 + STRAY_NS]
    assert stray(9 - STRAY_NS, 10, 20, 30, 40) == [9 - STRAY_NS]


def test_the_distance_grows_with_the_recording() -> None:
    hour = STRAY_NS
    assert stray(0, hour, 2 * hour, 3 * hour, (3 + 2 * STRAY_FACTOR) * hour) == []
    assert stray(0, hour, 2 * hour, 3 * hour, (3 + 2 * STRAY_FACTOR) * hour + 1) == [203 * hour + 1]


def test_host_and_device_may_have_clocks_of_their_own() -> None:
    host = tuple(EPOCH_NS + at for at in range(8))
    assert stray(*host, device=(1, 2, 3, 4)) == []
    assert stray(*host, device=(1, 2, 3, 4, 9 * 10**18)) == [9 * 10**18]
    assert stray(*host, device=(9 * 10**18,)) == [9 * 10**18]  # one slice says nothing about the device's clock


def test_too_few_slices_say_nothing() -> None:
    assert stray(0, 1, 9 * 10**18) == []
    assert stray() == []


@pytest.mark.parametrize("when", [9_200_000_000 * 10**9, -9_200_000_000 * 10**9, 5 * 10**9])
def test_a_stray_slice_is_kept_but_stretches_nothing(tmp_path: Path, when: int) -> None:
    builder = RankBuilder(0)
    for at in range(5):
        builder.device(f"k{at}", EPOCH_NS + 100 * at, EPOCH_NS + 100 * at + 60)
    builder.device("lost in time", when, when + 60)
    (rank,) = make_run([builder], tmp_path).ranks
    assert rank.rows("slices") == 6
    (row,) = step_time(rank).table("step_time").records()
    assert (row["computing_ns"], row["free_ns"], row["total_ns"]) == (300, 160, 460)
    assert (ranks(rank).table("ranks").column("start_ns"), ranks(rank).table("ranks").column("span_ns")) == (
        [EPOCH_NS],
        [460],
    )
    (note,) = rank.quality
    assert (note.code, note.count) == ("stray-time", 1)
    assert note.example.startswith(f"starts at {when} ns: over an hour, and 100 times")


def test_a_stray_mark_makes_no_step(tmp_path: Path) -> None:
    builder = RankBuilder(0)
    for at in range(5):
        builder.step(at, EPOCH_NS + 100 * at, EPOCH_NS + 100 * at + 100)
        builder.device("k", EPOCH_NS + 100 * at + 10, EPOCH_NS + 100 * at + 60)
    builder.step(5, 9_200_000_000 * 10**9, 9_200_000_000 * 10**9 + 100)
    (rank,) = make_run([builder], tmp_path).ranks
    assert step_time(rank).table("step_time").column("total_ns") == [100] * 5


def test_a_long_slice_beside_a_stray_one_is_still_an_overflow(tmp_path: Path) -> None:
    builder = RankBuilder(0).device("long", EPOCH_NS + 5, EPOCH_NS + 5 + 2**62)
    for at in range(5):
        builder.device(f"k{at}", EPOCH_NS + 100 * at, EPOCH_NS + 100 * at + 60)
    builder.device("lost in time", 9_200_000_000 * 10**9, 9_200_000_000 * 10**9 + 60)
    (rank,) = make_run([builder], tmp_path).ranks
    assert {note.code for note in rank.quality} >= {"stray-time", "duration-overflow"}
    assert (rank.start_ns, rank.end_ns) == (EPOCH_NS, EPOCH_NS + 460)
