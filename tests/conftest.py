"""Fixtures and switches that every test shares."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
CHROMIUM = "/usr/bin/chromium"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs something this machine does not have, saying what."""
    missing = {
        "shared_data": None if SHARED.exists() else "the folder of real profiles is not here",
        "browser": None if shutil.which(CHROMIUM) else "Chromium is not installed",
    }
    for item in items:
        for marker, reason in missing.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def profiles() -> Path:
    """The folder of real profiles (tests that use it carry the marker `shared_data`)."""
    return SHARED / "profiles"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test gets a store of its own."""
    monkeypatch.setenv("TRAINWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
