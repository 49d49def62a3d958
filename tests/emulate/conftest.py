"""Emulation, once turned on, stays on in a process: these tests share one, with two devices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trainwright.emulate import install


@pytest.fixture(autouse=True)
def _emulation() -> Iterator[None]:
    """Two devices of the default chip, without faults; whatever a test chose before."""
    install(devices=2, memory_gib=4)
    yield
    install(devices=2, memory_gib=4)
