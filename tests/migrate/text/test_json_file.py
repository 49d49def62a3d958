"""The reader of JSON."""

from __future__ import annotations

import pytest

from trainwright.migrate.text.json_file import read_json


def test_scalars_know_their_keys_and_bytes() -> None:
    text = '{"a": "x", "b": {"c": [1, "y", {"d": true}]}} '
    found = read_json(text)
    assert not isinstance(found, str)
    values = {scalar.path: scalar.value for scalar in found if not scalar.key}
    assert values == {
        ("a",): "x",
        ("b", "c", "[]"): "y",
        ("b", "c", "[]", "d"): "true",
    }
    assert all(text[scalar.inner : scalar.inner + len(scalar.value)] == scalar.value for scalar in found)


def test_comments_and_trailing_commas_are_passed_over() -> None:
    found = read_json('// {\n{"a": /* "b" */ "c",}\n')
    assert not isinstance(found, str)
    assert [scalar.value for scalar in found] == ["a", "c"]


def test_escaped_text_has_no_place() -> None:
    found = read_json(r'{"a": "x\ny"}')
    assert not isinstance(found, str)
    assert (found[1].value, found[1].inner) == ("x\ny", -1)


@pytest.mark.parametrize("text", ['{"a": ', '{"a"]', '"open', "}"])
def test_broken_text_is_named(text: str) -> None:
    assert read_json(text) == "It is not valid JSON"
