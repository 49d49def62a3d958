"""Arguments of Kineto events that no run can have produced."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trace.make_trace import kernel_event, write_trace
from tests.trace.read_source import rows_of
from tests.trace.test_public_issues import noted, read


@pytest.mark.parametrize("elements", [2**62, 2**61, 2**50])
def test_an_absurd_message_size_is_not_recorded_and_reported(tmp_path: Path, elements: int) -> None:
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
    sizes = [{"In msg nelems": 100, "Out msg nelems": 100}, {"In msg nelems": elements, "Out msg nelems": 1}]
    events = [kernel_event(name, at * 10, 5, dtype="Float", **size) for at, size in enumerate(sizes)]
    rank = read(write_trace(tmp_path / "t.json", events))
    assert rows_of(rank, "collectives", "bytes") == [(400,), (-1,)]
    assert noted(rank, "absurd-size").count == 1
