"""Lanes, parents and self time, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from trainwright.trace.layout import Layout, lay_out


def lanes_of(slices: list[tuple[int, int, int]], *, may_contain: bool = True) -> tuple[Layout, list[tuple[int, int]]]:
    """The layout of (track, start, end) slices, and (depth, parent index) by input order; -1 for no parent."""
    track, start, end = (np.array(column, np.int64) for column in zip(*slices, strict=True))
    layout = lay_out(
        track.astype(np.int32), start, end - start, may_contain=np.full(len(slices), may_contain, np.bool_)
    )
    depth = layout.lane_depth[layout.lane]
    answer = [(0, 0)] * len(slices)
    for row, old in enumerate(layout.order):
        parent = int(layout.order[layout.parent[row]]) if layout.parent[row] >= 0 else -1
        answer[old] = (int(depth[row]), parent)
    return layout, answer


def test_nested_calls_get_depth_parent_and_self_time() -> None:
    layout, answer = lanes_of([(0, 0, 100), (0, 10, 40), (0, 20, 30), (0, 50, 60), (0, 100, 110)])
    assert answer == [(0, -1), (1, 0), (2, 1), (1, 0), (0, -1)]
    self_ns = dict(zip(layout.order.tolist(), layout.self_ns.tolist(), strict=True))
    assert self_ns == {0: 60, 1: 20, 2: 10, 3: 10, 4: 10}
    assert layout.straddling == 0


def test_self_times_of_a_track_add_up_to_its_union() -> None:
    layout, _ = lanes_of([(0, 0, 100), (0, 10, 40), (0, 20, 30), (0, 150, 200)])
    assert layout.self_ns.sum() == 150


def test_same_start_nests_the_shorter_in_the_longer_whatever_the_order() -> None:
    _, answer = lanes_of([(0, 0, 10), (0, 0, 50), (0, 0, 10)])
    assert answer[1] == (0, -1)
    assert sorted(answer[::2]) == [(1, 1), (2, answer[2][1] if answer[2][0] == 2 else answer[0][1])]


def test_slices_without_duration_share_an_instant() -> None:
    layout, answer = lanes_of([(0, 5, 5), (0, 5, 5), (0, 5, 9)])
    assert answer[2] == (0, -1)
    assert layout.straddling == 0


def test_straddling_calls_keep_their_children_below_them() -> None:
    _layout, answer = lanes_of([(0, 0, 10_000), (0, 5_000, 15_000), (0, 11_000, 12_000), (0, 16_000, 17_001)])
    assert [depth for depth, _ in answer] == [0, 1, 2, 0]
    assert answer[2] == (2, 1)
    assert answer[1][1] == -1


def test_overlapping_kernels_are_packed_on_few_rows_and_counted() -> None:
    chain = [(0, 10 * at, 10 * at + 15) for at in range(100)]
    layout, answer = lanes_of(chain, may_contain=False)
    assert {depth for depth, _ in answer} == {0, 1}
    assert layout.straddling == 50
    assert all(parent == -1 for _, parent in answer)
    assert layout.self_ns.tolist() == [15] * 100


def test_whole_microseconds_forgive_one_microsecond_of_overlap() -> None:
    # parent [0, 15), child [10, 16) after rounding, next call [15, 20) with a child of its own
    layout, answer = lanes_of([(0, 0, 15_000), (0, 10_000, 16_000), (0, 15_000, 20_000), (0, 15_000, 18_000)])
    assert answer == [(0, -1), (1, 0), (0, -1), (1, 2)]
    assert layout.straddling == 0


def test_tracks_do_not_mix_and_lanes_cover_every_row_once() -> None:
    layout, _ = lanes_of([(3, 0, 10), (1, 0, 10), (3, 2, 4), (1, 20, 30)])
    assert layout.lane_track.tolist() == [1, 3, 3]
    assert layout.lane_depth.tolist() == [0, 0, 1]
    assert layout.lane_first.tolist() == [0, 2, 3]
    assert layout.lane_count.tolist() == [2, 1, 1]


@pytest.mark.parametrize("seed", range(20))
def test_no_lane_ever_overlaps_and_no_slice_is_dropped(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 200
    start = random.integers(0, 3_000, count)
    dur = random.integers(0, 400, count)
    track = random.integers(0, 3, count).astype(np.int32)
    layout = lay_out(track, start, dur, may_contain=np.full(count, bool(seed % 2)))
    assert sorted(layout.order.tolist()) == list(range(count))
    begin, stop = start[layout.order], (start + dur)[layout.order]
    same = layout.lane[1:] == layout.lane[:-1]
    assert np.all(begin[1:][same] >= stop[:-1][same] - 2)
    assert layout.lane_count.sum() == count


def test_nothing_gives_an_empty_layout() -> None:
    none = np.empty(0, np.int64)
    layout = lay_out(none.astype(np.int32), none, none, may_contain=none.astype(np.bool_))
    assert len(layout.order) == len(layout.lane_count) == 0
