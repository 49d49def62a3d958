"""Reading problems that users reported to other tools, each with a generated input.

The name of each test carries the public issue. What a reader must do: lose nothing it can read, count what it loses
with file and byte offset, and never stretch, round or crash.
"""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trace.make_trace import Event, kernel_event, slice_event, step_event, write_trace
from trainwright.core.errors import InputError, RefusedError
from trainwright.core.result import Quality
from trainwright.trace.ingest import open_run
from trainwright.trace.store import RankStore, Run

EPOCH_US = 1_736_412_474_725_417


def read(path: Path) -> RankStore:
    """The only rank below a path."""
    (rank,) = open_run([path]).ranks
    return rank


def noted(holder: RankStore | Run, code: str) -> Quality:
    """The quality entry of a code."""
    entries = holder.all_quality if isinstance(holder, Run) else holder.quality
    (entry,) = [entry for entry in entries if entry.code == code]
    return entry


def slices(rank: RankStore) -> dict[str, tuple[int, int]]:
    """(start, duration) by name."""
    names = rank.texts("slices", "name")
    columns = (rank.column("slices", key).tolist() for key in ("name", "start_ns", "dur_ns"))
    return {names[code]: (start, dur) for code, start, dur in zip(*columns, strict=True)}


def raw_trace(tmp_path: Path, *texts: bytes, name: str = "trace.json") -> Path:
    """A trace of events given as they stand in the file."""
    path = tmp_path / name
    path.write_bytes(b'{"schemaVersion": 1, "traceEvents": [\n  ' + b",\n  ".join(texts) + b"\n]}")
    return path


def event_text(**fields: Any) -> bytes:
    """One well-formed event as text."""
    return json.dumps({"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, **fields}).encode()


def test_ascend_pytorch_133_string_times_and_19_digit_flow_ids_stay_exact(tmp_path: Path) -> None:
    flow = {
        "ph": "s",
        "cat": "async_npu",
        "name": "f",
        "pid": 1,
        "tid": 1,
        "id": 1736412474725417509,
        "ts": f"{EPOCH_US}.509",
    }
    rank = read(
        write_trace(
            tmp_path / "t.json",
            [slice_event("a", f"{EPOCH_US}.508", 1.25), slice_event("b", f"{EPOCH_US}.509", "0.001"), flow],
        )
    )
    assert slices(rank) == {"a": (EPOCH_US * 1000 + 508, 1250), "b": (EPOCH_US * 1000 + 509, 1)}
    assert rank.column("flows", "id").tolist() == [1736412474725417509]
    assert rank.column("flows", "ts_ns").tolist() == [EPOCH_US * 1000 + 509]


def test_kineto_890_919_928_absolute_decimal_numbers_keep_their_nanoseconds(tmp_path: Path) -> None:
    # as numbers, not strings: a float64 knows this time to 250 ns only
    text = b'{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": %d.508, "dur": 0.001}' % EPOCH_US
    assert slices(read(raw_trace(tmp_path, text))) == {"a": (EPOCH_US * 1000 + 508, 1)}


def test_kineto_890_late_absolute_decimals_are_noticed_behind_whole_ones(tmp_path: Path) -> None:
    whole = [event_text(name=f"w{at}", ts=EPOCH_US + at) for at in range(1200)]
    text = b'{"ph": "X", "cat": "cpu_op", "name": "late", "pid": 1, "tid": 1, "ts": %d.508, "dur": 1}' % (
        EPOCH_US + 5000
    )
    assert slices(read(raw_trace(tmp_path, *whole, text)))["late"] == ((EPOCH_US + 5000) * 1000 + 508, 1000)


@pytest.mark.parametrize("where", ["before", "after"])
def test_kineto_928_base_time_is_added_as_an_integer(tmp_path: Path, where: str) -> None:
    base = 1_704_067_200_000_000_001
    events = [slice_event("a", 7_775_999_999_999.999, 0.5)]
    document = {"traceEvents": events, "baseTimeNanoseconds": base}
    if where == "before":
        document = dict(reversed(document.items()))
    (tmp_path / "t.json").write_text(json.dumps(document))
    assert slices(read(tmp_path / "t.json")) == {"a": (base + 7_775_999_999_999_999, 500)}


@pytest.mark.parametrize("text", ["1.736412474725417508e15", "1736412474725417.508", "1736412474725417508e-3"])
def test_perfetto_559_speedscope_487_scientific_notation_is_decimal(tmp_path: Path, text: str) -> None:
    event = b'{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": %s, "dur": 1.5e2}' % text.encode()
    assert slices(read(raw_trace(tmp_path, event))) == {"a": (EPOCH_US * 1000 + 508, 150_000)}


def test_ascend_pytorch_27_damage_is_named_with_its_byte_offset_and_costs_one_event(tmp_path: Path) -> None:
    bad = b'{"ph": "X", "name": "broken", "pid": 1, "tid": 1, "ts": 5, "dur": , }'
    path = raw_trace(tmp_path, event_text(name="a"), bad, event_text(name="b"))
    rank = read(path)
    assert set(slices(rank)) == {"a", "b"}
    assert rank.manifest["lost"] == 1
    entry = noted(rank, "lost-malformed")
    assert (entry.count, entry.file, entry.offset) == (1, str(path), path.read_bytes().index(bad))


@pytest.mark.parametrize("name", [b'say "hi" twice', b"two\nlines", b'say "hi"\nand more'])
def test_pytorch_33961_113001_unescaped_quotes_and_newlines_are_mended(tmp_path: Path, name: bytes) -> None:
    bad = b'{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": 5, "dur": 1}' % name
    rank = read(raw_trace(tmp_path, event_text(name="a"), bad, event_text(name="b")))
    assert set(slices(rank)) == {"a", name.decode(), "b"}
    assert (rank.manifest["lost"], rank.manifest["repaired"], rank.manifest["events"]) == (0, 1, 3)


def test_pytorch_98432_windows_back_slashes_are_kept(tmp_path: Path) -> None:
    bad = rb'{"ph": "X", "name": "C:\work\data.py(3): \xload", "pid": 1, "tid": 1, "ts": 5, "dur": 1}'
    rank = read(raw_trace(tmp_path, event_text(name="a"), bad, event_text(name="b")))
    assert r"C:\work\data.py(3): \xload" in slices(rank)
    assert rank.manifest["repaired"] == 1


def test_pytorch_130622_control_characters_do_not_cost_the_file(tmp_path: Path) -> None:
    bad = b'{"ph": "X", "cat": "cpu_op", "name": "ctl\x01\x1f", "pid": 1, "tid": 1, "ts": 5, "dur": 1}'
    rank = read(raw_trace(tmp_path, event_text(name="a"), bad, event_text(name="b")))
    assert set(slices(rank)) == {"a", "ctl\x01\x1f", "b"}
    assert noted(rank, "repaired-control-character").count == 1


def test_pytorch_136040_bytes_that_are_not_utf_8_are_replaced_and_counted(tmp_path: Path) -> None:
    bad = b'{"ph": "X", "cat": "cpu_op", "name": "caf\xe9", "pid": 1, "tid": 1, "ts": 5, "dur": 1}'
    rank = read(raw_trace(tmp_path, event_text(name="a"), bad, event_text(name="b")))
    assert set(slices(rank)) == {"a", "caf�", "b"}
    assert noted(rank, "repaired-not-utf-8").offset is not None


def test_pytorch_188481_events_at_time_zero_do_not_stretch_the_time_axis(tmp_path: Path) -> None:
    good: list[Event] = [slice_event(f"a{at}", EPOCH_US + at, 1) for at in range(10)]
    zeros: list[Event] = [slice_event(f"z{at}", 0, 0) for at in range(10)]
    rank = read(write_trace(tmp_path / "t.json", [*good, *zeros]))
    assert rank.end_ns - rank.start_ns == 10_000
    assert noted(rank, "time-zero").count == 10
    assert rank.rows("instants") == 10
    assert rank.manifest["events"] == 20


def test_pytorch_95460_kineto_728_a_list_at_top_level_is_a_trace(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([slice_event("a", 1, 2)]))
    assert slices(read(tmp_path / "t.json")) == {"a": (1000, 2000)}


def test_kineto_728_categories_of_2021_mean_the_same(tmp_path: Path) -> None:
    old = [
        slice_event("aten::mm", 1, 5, cat="Operator", **{"external id": 3}),
        slice_event("cudaLaunchKernel", 2, 1, cat="Runtime", correlation=9),
        slice_event("gemm", 4, 5, cat="Kernel", pid=0, tid="stream 7", correlation=9, stream=7, device=0),
        slice_event("Memcpy HtoD", 10, 5, cat="Memcpy", pid=0, tid="stream 7", stream=7, bytes=64),
    ]
    rank = read(write_trace(tmp_path / "t.json", old))
    kinds = [rank.texts("slices", "kind")[code] for code in rank.column("slices", "kind")]
    assert sorted(kinds) == ["kernel", "memcpy", "op", "runtime"]
    assert rank.column("ops", "external_id").tolist() == [3]
    assert rank.column("kernels", "stream").tolist() == [7, 7]
    assert rank.column("kernels", "bytes").tolist() == [-1, 64]
    assert rank.column("tracks", "stream").tolist() == [-1, 7]


def test_kineto_595_622_760_805_memory_stays_bounded_by_the_chunk_not_the_file(tmp_path: Path) -> None:
    padding = "x" * 2000
    path = write_trace(tmp_path / "t.json", [slice_event("a", at, 1, note=padding) for at in range(30_000)])
    size = path.stat().st_size
    assert size > 60e6
    tracemalloc.start()
    try:
        rank = read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rank.rows("slices") == 30_000
    assert peak < size


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_hta_104_107_kineto_974_the_rank_is_found_whatever_the_spacing(
    tmp_path: Path, separators: tuple[str, str]
) -> None:
    for rank in (3, 1):
        document = {"distributedInfo": {"backend": "nccl", "rank": rank}, "traceEvents": [slice_event("a", 1, 2)]}
        (tmp_path / f"file{rank}.json").write_text(json.dumps(document, separators=separators))
    run = open_run([tmp_path])
    assert [rank.rank for rank in run.ranks] == [1, 3]
    assert noted(run, "rank-gap").example == "missing ranks: 0, 2"


def test_hta_104_a_rank_claimed_twice_is_kept_twice_and_reported(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        write_trace(tmp_path / name, [slice_event(name, 1, 2)], distributedInfo={"rank": 0})
    run = open_run([tmp_path])
    assert [(rank.rank, list(slices(rank))) for rank in run.ranks] == [(0, ["a.json"]), (1, ["b.json"])]
    assert noted(run, "duplicate-rank").file.endswith("b.json")


def test_hta_107_ranks_come_from_names_then_from_order(tmp_path: Path) -> None:
    for name in ("worker10.json", "worker2.json", "zzz.json"):
        write_trace(tmp_path / name, [slice_event(name, 1, 2)])
    run = open_run([tmp_path])
    assert {rank.rank: rank.unit.path.name for rank in run.ranks} == {
        2: "worker2.json",
        10: "worker10.json",
        11: "zzz.json",
    }
    assert noted(run, "rank-not-given").file.endswith("zzz.json")


def test_hta_113_a_call_stack_with_straddling_calls_ends_and_keeps_everything(tmp_path: Path) -> None:
    calls = [slice_event(f"f{at}", at * 10, 15, cat="python_function") for at in range(500)]
    rank = read(write_trace(tmp_path / "t.json", calls))
    assert rank.rows("slices") == 500
    parents = rank.column("slices", "parent")
    for row in range(500):  # following parents always ends at the top
        steps = 0
        while row >= 0:
            row, steps = int(parents[row]), steps + 1  # noqa: PLW2901
            assert steps <= 500


def test_chakra_167_negative_durations_are_clipped_and_flagged(tmp_path: Path) -> None:
    rank = read(write_trace(tmp_path / "t.json", [slice_event("a", 5, -3), slice_event("b", 9, 1)]))
    assert slices(rank) == {"a": (5000, 0), "b": (9000, 1000)}
    assert noted(rank, "negative-duration").count == 1


def test_perfetto_4280_6277_928_432_overlapping_kernels_of_one_stream_are_laned(tmp_path: Path) -> None:
    kernels = [kernel_event(f"k{at}", 10 * at, 15, correlation=at) for at in range(50)]
    rank = read(write_trace(tmp_path / "t.json", kernels))
    assert len(slices(rank)) == 50
    assert rank.column("slices", "dur_ns").tolist() == [15_000] * 50
    assert rank.column("lanes", "depth").tolist() == [0, 1]
    assert noted(rank, "overlapping-events").count == 25


def test_torchtune_2323_ranges_that_intersect_raise_no_assertion(tmp_path: Path) -> None:
    ranges = [slice_event(f"u{at}", at, 10, cat="user_annotation") for at in range(20)]
    assert read(write_trace(tmp_path / "t.json", ranges)).rows("slices") == 20


def test_tracelens_669_an_overflowed_duration_is_cut_at_the_end_of_the_trace(tmp_path: Path) -> None:
    events = [kernel_event("ok", 100, 50), kernel_event("overflow", 120, 18_446_744_073_709_000)]
    rank = read(write_trace(tmp_path / "t.json", events))
    assert slices(rank)["overflow"] == (120_000, 30_000)
    assert noted(rank, "duration-overflow").count == 1


def test_vllm_ascend_2295_one_broken_rank_costs_only_itself(tmp_path: Path) -> None:
    for rank in range(3):
        write_trace(tmp_path / f"rank{rank}.json", [slice_event("a", 1, 2)])
    (tmp_path / "rank1.json").write_bytes(b'{"traceEvents": [' + b'{"ph": "X", "name": }, ' * 3)
    run = open_run([tmp_path])
    assert [rank.rank for rank in run.ranks] == [0, 2]
    assert noted(run, "rank-not-read").file.endswith("rank1.json")


@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_file_gives_every_whole_event(tmp_path: Path, packed: bool) -> None:
    events = [slice_event(f"a{at}", at, 1, note=f"{at * 7919 % 1000}") for at in range(2_000)]
    text = write_trace(tmp_path / "whole.json", events).read_bytes()
    (tmp_path / "whole.json").unlink()
    cut = gzip.compress(text)[:-4000] if packed else text[: len(text) * 2 // 3]
    path = tmp_path / ("t.json.gz" if packed else "t.json")
    path.write_bytes(cut)
    rank = read(path)
    kept = rank.rows("slices")
    assert 1_000 < kept < 2_000
    assert set(slices(rank)) == {f"a{at}" for at in range(kept)}
    assert rank.manifest["lost"] == 1
    assert noted(rank, "lost-truncated").offset is not None
    assert [entry.code for entry in rank.quality].count("truncated-stream") == packed


def test_a_separator_inside_a_string_is_no_border_between_events(tmp_path: Path) -> None:
    tricky = event_text(name='x},\n  {"ph": "y')
    rank = read(raw_trace(tmp_path, event_text(name="a"), tricky.replace(rb"\n", b"\n"), event_text(name="b")))
    assert rank.manifest["lost"] == 0
    assert set(slices(rank)) == {"a", 'x},\n  {"ph": "y', "b"}


def test_lists_of_objects_in_arguments_and_after_the_events_are_no_events(tmp_path: Path) -> None:
    events = [slice_event(f"a{at}", at, 1, parts=[{"n": 1}, {"n": 2}, {"n": 3}]) for at in range(50)]
    text = json.dumps({"traceEvents": events, "deviceProperties": [{"id": 0, "name": "D"}, {"id": 1, "name": "E"}]})
    (tmp_path / "t.json").write_text(text)
    rank = read(tmp_path / "t.json")
    assert (rank.manifest["events"], rank.manifest["lost"], rank.device) == (50, 0, "D")


def test_begin_and_end_events_become_slices_and_lonely_ones_are_kept(tmp_path: Path) -> None:
    def mark(phase: str, name: str, ts: int) -> Event:
        return {"ph": phase, "name": name, "cat": "c", "pid": 1, "tid": 1, "ts": ts}

    events = [mark("B", "outer", 0), mark("B", "inner", 2), mark("E", "", 5), mark("E", "", 9), mark("B", "open", 10)]
    rank = read(write_trace(tmp_path / "t.json", events))
    assert slices(rank) == {"outer": (0, 9000), "inner": (2000, 3000)}
    assert noted(rank, "unmatched-begin-or-end").count == 1
    assert rank.rows("instants") == 1


def test_every_argument_can_be_fetched_from_the_source_by_offset(tmp_path: Path) -> None:
    events = [slice_event(f"a{at}", at, 1, secret=at) for at in range(100)]
    path = write_trace(tmp_path / "t.json", events)
    rank = read(path)
    data = path.read_bytes()
    row = int(np.flatnonzero(rank.column("slices", "start_ns") == 42_000)[0])
    at = int(np.flatnonzero(rank.column("origin", "event") == rank.column("slices", "event")[row])[0])
    offset, size = rank.column("origin", "offset")[at], rank.column("origin", "size")[at]
    assert json.loads(data[offset : offset + size])["args"] == {"secret": 42}


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWRIGHT_MAX_BYTES", "1000000")
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents": [' + event_text(name="a") + b"," + b" " * 50_000_000 + b"]}"))
    with pytest.raises(InputError, match=r"bytes or more"):
        open_run([path])


def test_a_ratio_no_trace_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainwright.trace.bytestream.RATIO_FREE_BYTES", 1_000_000)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents": [' + event_text(name="a") + b"," + b" " * 50_000_000 + b"]}"))
    with pytest.raises(InputError, match="decompression bomb"):
        open_run([path])
    assert issubclass(RefusedError, InputError)


def test_absurd_nesting_costs_one_event(tmp_path: Path) -> None:
    deep = b'{"ph": "X", "name": "deep", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": ' + b'{"a":' * 100_000
    deep += b"1" + b"}" * 100_001
    rank = read(raw_trace(tmp_path, event_text(name="a"), deep, event_text(name="b")))
    assert {"a", "b"} <= set(slices(rank))
    assert rank.manifest["lost"] + rank.rows("slices") == 3


def test_steps_marked_for_hta_238_are_kept_as_slices(tmp_path: Path) -> None:
    rank = read(write_trace(tmp_path / "t.json", [step_event(4, 0, 10), slice_event("a", 1, 2)]))
    assert rank.texts("slices", "name")[rank.column("slices", "name")[rank.kind("step")[0]]] == "ProfilerStep#4"


def test_user_data_is_never_written(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.json", [slice_event("a", 1, 2)])
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    read(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize("chunk", [300, 1000, 4096])
def test_events_that_cross_chunks_and_hold_separators_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("trainwright.trace.json_events.CHUNK_BYTES", chunk)
    monkeypatch.setattr("trainwright.trace.json_events.HEAD_BYTES", chunk)
    parts = [{"n": 1, "name": "x"}, {"n": 2, "name": "y"}]
    path = tmp_path / "t.json"
    path.write_text(json.dumps([slice_event(f"a{at}", at, 1, parts=parts * (at % 7)) for at in range(200)]))
    rank = read(path)
    assert set(slices(rank)) == {f"a{at}" for at in range(200)}
    assert (rank.manifest["events"], rank.manifest["lost"], rank.manifest["repaired"]) == (200, 0, 0)


def test_a_slice_without_a_name_is_kept_under_the_empty_name(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.json", [{"ph": "X", "ts": 1, "dur": 1}, slice_event("a", 5, 1)])
    assert slices(read(path)) == {"": (1000, 1000), "a": (5000, 1000)}


def test_a_bare_array_is_known_whatever_comes_first_in_its_events(tmp_path: Path) -> None:
    event = {"args": {"shape": {"n": 1}}, **slice_event("a", 1, 2)}
    (tmp_path / "t.json").write_text(json.dumps([event]))
    assert slices(read(tmp_path / "t.json")) == {"a": (1000, 2000)}


def test_digits_too_long_for_a_rank_are_none(tmp_path: Path) -> None:
    write_trace(tmp_path / "worker1694128201556123.json", [slice_event("a", 1, 2)])
    assert read(tmp_path / "worker1694128201556123.json").rank == 0
