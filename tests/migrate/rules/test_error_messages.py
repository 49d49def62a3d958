"""Handlers that look for the message of a CUDA error: memory is looked for under both devices' words."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated, outcomes
from trainwright.migrate.rules.error_messages import RULE

CASES = [
    ('print("CUDA out of memory")\n', []),
    ('if "out of memory" in str(error):\n    pass\n', []),
    ('if "CUDA out of memory" in str(error):\n    pass\n', ["replaced"]),
    ('if "CUDA error: device-side assert" in str(error):\n    pass\n', ["manual"]),
    ('if "cuDNN error" not in error.args[0]:\n    raise\n', ["manual"]),
    ('lost = any(text in message for text in ["CUDA out of memory", "other"])\n', ["replaced"]),
    ('for text in ["CUDA out of memory", "other"]:\n    print(text)\n', []),
    ('same = "CUDA out of memory" == message\n', []),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_only_what_is_looked_for_in_a_message_counts(code: str, expected: list[str]) -> None:
    assert outcomes(code, RULE) == expected


def test_the_words_of_both_devices_stay() -> None:
    before = 'import torch\nlost = "CUDA out of memory. Tried" in str(error)\n'
    assert '"out of memory. Tried" in str(error)' in migrated(before)
