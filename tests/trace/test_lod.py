"""The level-of-detail pyramid keeps every event, count and busy nanosecond."""

from __future__ import annotations

import numpy as np

from trainwright.trace import lod
from trainwright.trace.lod import LOD_BASE_NS, build_pyramid


def test_short_neighbours_of_one_bin_merge_and_long_ones_stand_alone() -> None:
    lod_small = lod.LOD_SMALL
    lod.LOD_SMALL = 1
    try:
        start = np.array([0, 100, 200, 2_000, 10_000, 10_100], np.int64)
        dur = np.array([50, 60, 10, 5_000, 5, 7], np.int64)
        levels = build_pyramid(np.zeros(6, np.int32), start, dur)
    finally:
        lod.LOD_SMALL = lod_small
    first = levels[0]
    assert LOD_BASE_NS == 1_024
    assert first.number == 0
    assert first.start_ns.tolist() == [0, 2_000, 10_000]
    assert first.end_ns.tolist() == [210, 7_000, 10_107]
    assert first.count.tolist() == [3, 1, 2]
    assert first.busy_ns.tolist() == [120, 5_000, 12]
    assert first.row.tolist() == [1, 3, 5]


def test_every_level_adds_up_to_the_slices_of_each_lane() -> None:
    random = np.random.default_rng(1)
    lane = np.repeat(np.arange(4, dtype=np.int32), 10_000)
    gaps = random.integers(0, 900, len(lane))
    dur = random.integers(0, 900, len(lane))
    start = np.concatenate([np.cumsum((gaps + dur)[lane == key]) - dur[lane == key] for key in range(4)])
    levels = build_pyramid(lane, start, dur)
    assert levels
    assert [level.number for level in levels] == sorted({level.number for level in levels})
    for level in levels:
        assert len(level.lane) <= len(lane) // 2
        for key in range(4):
            mine = level.lane == key
            assert level.count[mine].sum() == 10_000
            assert level.busy_ns[mine].sum() == dur[lane == key].sum()
        assert np.all(level.end_ns - level.start_ns >= level.busy_ns)
        assert np.all((lane[level.row] == level.lane) & (start[level.row] >= level.start_ns))


def test_few_slices_need_no_level() -> None:
    assert build_pyramid(np.zeros(3, np.int32), np.array([0, 5, 9]), np.array([1, 1, 1])) == []
    assert build_pyramid(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64)) == []


def test_damaged_times_at_the_ends_of_the_axis_are_no_trouble() -> None:
    start = np.concatenate([np.arange(-(2**62), -(2**62) + 5_000), np.arange(2**62, 2**62 + 5_000)])
    for level in build_pyramid(np.zeros(len(start), np.int32), start, np.ones(len(start), np.int64)):
        assert level.count.sum() == len(start)
