"""Text that any program can hold."""

from __future__ import annotations

from trainwright.core.text import encodable


def test_only_lone_surrogates_are_replaced() -> None:
    assert encodable("plain") == "plain"
    assert encodable("é\ud800x\udfff\U0001f600") == "é\ufffdx\ufffd\U0001f600"
