"""The local executor: order, isolation, dead workers, progress."""

from __future__ import annotations

import os

import pytest

from trainwright.core.errors import InputError, WorkerError
from trainwright.core.executor import EXECUTORS, Report, no_progress


def double(item: int, report: Report) -> int:
    """Twice the item; 13 is wrong input, 99 kills the worker."""
    report(1, 1)
    if item == 13:
        raise InputError("13 is unlucky", todo="take another")
    if item == 99:
        os._exit(1)
    return 2 * item


@pytest.mark.parametrize("workers", [1, 2])
def test_outcomes_keep_the_order_and_errors_cost_only_their_item(workers: int) -> None:
    seen: list[tuple[int, int, int]] = []
    outcomes = EXECUTORS["local"].map(
        double, [1, 13, 3], workers=workers, on_progress=lambda *progress: seen.append(progress)
    )
    assert [outcome.value for outcome in outcomes] == [2, None, 6]
    assert isinstance(outcomes[1].error, InputError)
    assert outcomes[1].error.todo == "take another"
    assert sorted(seen) == [(0, 1, 1), (1, 1, 1), (2, 1, 1)]


def test_a_worker_that_dies_costs_only_its_item() -> None:
    outcomes = EXECUTORS["local"].map(double, [1, 99, 3, 4], workers=2, on_progress=no_progress)
    assert [outcome.value for outcome in outcomes] == [2, None, 6, 8]
    assert isinstance(outcomes[1].error, WorkerError)
