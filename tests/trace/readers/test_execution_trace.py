"""Execution traces: read where nodes carry times, refused with the reason where they do not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.trace.read_source import find_in, read_source, rows_of
from trainwright.core.errors import InputError
from trainwright.trace.readers.execution_trace import READER


def node(number: int, name: str, **members: Any) -> dict[str, Any]:
    """A node in the schema of 2024."""
    attrs = [{"name": "tid", "type": "uint64", "value": 3}, {"name": "seq_id", "type": "int64", "value": 11}]
    inputs = {"values": [], "shapes": [[2, 3]], "types": ["Tensor(float)"]}
    return {"id": number, "name": name, "ctrl_deps": 1, "inputs": inputs, "attrs": attrs, **members}


def write(path: Path, *nodes: dict[str, Any]) -> Path:
    """An execution trace as PyTorch writes it."""
    text = json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 5, "start_ts": 9, "nodes": nodes}, indent=1)
    path.write_text(text.replace('"EXACT"', "1700000000000000.125"))
    return path


LINKED = (
    node(4, "aten::mm", ts="EXACT", inclusive_dur=20),
    node(5, "sgemm", ts=1_700_000_000_000_010, inclusive_dur=7.5, cat="kernel", stream=7, ctrl_deps=4),
    node(6, "ncclDevKernel_AllReduce_Sum", ts=1_700_000_000_000_030, inclusive_dur=1, cat="kernel", stream=8),
    node(7, "aten::view"),
)


def test_without_times_it_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "et.json", node(4, "aten::mm"))
    (tmp_path / "old_et.json.gz").write_bytes(
        gzip.compress(b'{"schema": "1.0.1", "pid": 1, "nodes": [{"name": "x", "id": 2}]}')
    )
    found = find_in(READER, tmp_path)
    assert not found.sources
    reasons = {refusal.path.name: refusal.reason for refusal in found.refusals}
    assert "1.1.1-chakra.0.0.4" in reasons["et.json"]
    assert "1.0.1" in reasons["old_et.json.gz"]
    assert all("without times" in reason for reason in reasons.values())


def test_linked_nodes_are_read_exactly(tmp_path: Path) -> None:
    (source,) = find_in(READER, write(tmp_path / "et_3.json", *LINKED)).sources
    assert (source.rank, source.rank_origin) == (3, "file name")
    rank = read_source(READER, source, tmp_path / "store")
    assert sorted(rows_of(rank, "slices", "start_ns", "dur_ns", "name", "kind")) == [
        (1_700_000_000_000_000_125, 20_000, "aten::mm", "op"),
        (1_700_000_000_000_010_000, 7_500, "sgemm", "kernel"),
        (1_700_000_000_000_030_000, 1_000, "ncclDevKernel_AllReduce_Sum", "comm"),
    ]
    assert rows_of(rank, "ops", "external_id", "sequence", "shapes") == [(4, 11, "[[2, 3]]")]
    assert rows_of(rank, "kernels", "stream", "external_id") == [(7, 4), (8, 1)]
    assert rows_of(rank, "collectives", "op") == [("allreduce",)]
    assert rank.manifest["events"] == 4
    assert {entry.code: entry.count for entry in rank.quality} == {"no-time": 1, "device-times-inexact": 1}


def test_a_damaged_linked_trace_says_why(tmp_path: Path) -> None:
    path = write(tmp_path / "et.json", *LINKED)
    path.write_text(path.read_text()[:-40])
    (source,) = find_in(READER, path).sources
    with pytest.raises(InputError, match="not valid JSON"):
        read_source(READER, source, tmp_path / "store")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[-1, 1, 37888, 7], [-1, 1, 512, 7]]", "memory timeline"),
        ('[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}}]', "none has a time"),
        ('{"job_meta": {}, "step_t_base": {"1": 2.0}}', "what-if"),
        ('{"tori": 1.0, "tideal": 0.5, "Mw": 1.0}', "what-if"),
        ('{"entries": [], "pg_config": {}, "version": "2.4"}', "flight recorder"),
    ],
)
def test_look_alikes_are_refused_with_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "x.json").write_text(text)
    (refusal,) = find_in(READER, tmp_path).refusals
    assert reason in refusal.reason


@pytest.mark.parametrize(
    "text",
    [
        '{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]}',
        '[{"ph": "M", "name": "process_name"}, {"ph": "X", "name": "a", "ts": 1, "dur": 1}]',
        '{"schema": "1", "other": []}',
        "not json",
        "[",
    ],
)
def test_what_may_be_a_trace_is_left_to_others(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    found = find_in(READER, tmp_path)
    assert not found.sources
    assert not found.refusals


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hta/execution_trace/benchmark_simple_add_et.json.gz", "execution trace (schema 1.0.1)"),
        ("param/resnet_2gpu_et.json.gz", "execution trace (schema 1.1.0-chakra.0.0.4)"),
        ("hta/memory_analysis/memory_timeline.raw.gz", "memory timeline"),
        ("msprof_analyze/event_list.json", "none has a time"),
        ("bytedance_straggler/result-AR.json", "what-if"),
        ("bytedance_straggler/mw-AR.json", "what-if"),
    ],
)
def test_real_files(profiles: Path, name: str, reason: str) -> None:
    (refusal,) = find_in(READER, profiles / name).refusals
    assert reason in refusal.reason
