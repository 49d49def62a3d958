"""Settings out of the environment."""

from __future__ import annotations

import pytest

from trainwright.core.errors import InputError
from trainwright.core.settings import cache_dir


def test_a_store_of_no_known_user_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWRIGHT_CACHE", "~no-such-user/store")
    with pytest.raises(InputError, match=r"set TRAINWRIGHT_CACHE"):
        cache_dir()
