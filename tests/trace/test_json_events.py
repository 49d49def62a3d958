"""Event arrays that are damaged in ways Python and DuckDB judge differently, and arrays that do not end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.trace.make_trace import slice_event
from tests.trace.test_public_issues import event_text, noted, raw_trace, read, slices
from trainwright.trace import json_events


@pytest.mark.parametrize("fields", [{"name": "x\ud800y"}, {"name": "x", "args": {"Call stack": "\udfff"}}])
@pytest.mark.parametrize("other", [event_text(name="b"), event_text(name="b").replace(b'"b"', b'"\xff"')])
def test_a_lone_surrogate_costs_nothing(tmp_path: Path, fields: dict[str, object], other: bytes) -> None:
    rank = read(raw_trace(tmp_path, event_text(name="a"), event_text(**fields), other))
    assert (rank.manifest["events"], rank.manifest["lost"]) == (3, 0)
    assert set(slices(rank)) >= {"a", str(fields["name"]).replace("\ud800", "\ufffd")}
    assert noted(rank, "repaired-lone-surrogate").count == 1


def test_a_pair_of_surrogates_is_a_character(tmp_path: Path) -> None:
    rank = read(raw_trace(tmp_path, event_text(name="\U0001f600"), event_text(name="a")))
    assert set(slices(rank)) == {"\U0001f600", "a"}
    assert rank.quality == []


def test_what_only_python_can_read_is_lost_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_events, "read_stretch", _unmended)
    rank = read(raw_trace(tmp_path, event_text(name="a"), event_text(name="\ud800"), event_text(name="b")))
    assert set(slices(rank)) == {"a", "b"}
    assert noted(rank, "lost-malformed").count == 1


def _unmended(data: bytes, at: int, **rest: object) -> object:
    """What `read_stretch` gives, with a mended event as it was before."""
    from trainwright.trace.repair import ReadEvent, read_stretch

    stretch = read_stretch(data, at, **rest)  # type: ignore[arg-type]
    offset = int(rest["offset"])  # type: ignore[call-overload]
    stretch.events = [
        ReadEvent(text=data[e.offset - offset : e.offset - offset + e.size], offset=e.offset, size=e.size)
        for e in stretch.events
    ]
    return stretch


def test_a_counter_that_python_cannot_read_is_counted(tmp_path: Path) -> None:
    nested = b"[" * 5000 + b"]" * 5000
    deep = b'{"ph": "C", "name": "c", "pid": 1, "tid": 1, "ts": 1, "args": {"a": ' + nested + b"}}"
    rank = read(raw_trace(tmp_path, deep, event_text(name="a")))
    assert noted(rank, "bad-counter").count == 1
    assert set(slices(rank)) == {"a"}


@pytest.mark.parametrize("head", [b'{"traceEvents": [', b"["])
def test_a_file_cut_between_events_says_so(tmp_path: Path, head: bytes) -> None:
    text = head + b", ".join(event_text(name=f"a{at}") for at in range(9))
    path = tmp_path / "t.json"
    path.write_bytes(text)
    rank = read(path)
    assert (rank.rows("slices"), rank.manifest["lost"]) == (9, 0)
    note = noted(rank, "unended-array")
    assert (note.offset, "does not end" in note.example) == (len(text), True)


def test_a_file_cut_in_an_event_says_so_too(tmp_path: Path) -> None:
    path = raw_trace(tmp_path, event_text(name="a"), event_text(name="b"))
    path.write_bytes(path.read_bytes()[:-20])
    rank = read(path)
    assert rank.manifest["lost"] == 1
    assert {note.code for note in rank.quality} == {"lost-truncated", "unended-array"}


@pytest.mark.parametrize("text", [b'{"traceEvents": [%s]}', b"[%s]", b"[%s\n]\n"])
def test_a_whole_file_ends(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(text % event_text(name="a"))
    assert read(path).quality == []


def test_a_wrong_gzip_checksum_costs_no_event(tmp_path: Path) -> None:
    events = [slice_event(f"a{at}", at, 1) for at in range(5000)]
    packed = bytearray(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    packed[-8] ^= 1
    path = tmp_path / "t.json.gz"
    path.write_bytes(packed)
    rank = read(path)
    assert (rank.manifest["events"], rank.manifest["lost"]) == (5000, 0)
    assert [note.code for note in rank.quality] == ["bad-checksum"]
