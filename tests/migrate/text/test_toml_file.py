"""The reader of TOML."""

from __future__ import annotations

import pytest

from trainwright.migrate.text.toml_file import read_toml

TEXT = """\
top = "t" # note
[a.b]
"quoted key" = 'single'
list = [
  "x", # one
  'y',
]
inline = { version = ">=1", extras = ["e"] }
number = 1_000
when = 1979-05-27T07:32:00Z
long = \"\"\"
a "quote"
\"\"\"
[[t]]
k = "v"
"""


def test_scalars_know_their_keys_and_bytes() -> None:
    found = read_toml(TEXT)
    assert not isinstance(found, str)
    values = [(scalar.path, scalar.value) for scalar in found if not scalar.key]
    assert values == [
        (("top",), "t"),
        (("a", "b", "quoted key"), "single"),
        (("a", "b", "list", "[]"), "x"),
        (("a", "b", "list", "[]"), "y"),
        (("a", "b", "inline", "version"), ">=1"),
        (("a", "b", "inline", "extras", "[]"), "e"),
        (("a", "b", "number"), "1_000"),
        (("a", "b", "when"), "1979-05-27T07:32:00Z"),
        (("a", "b", "long"), '\na "quote"\n'),
        (("t", "[]", "k"), "v"),
    ]
    for scalar in found:
        assert scalar.inner < 0 or TEXT[scalar.inner : scalar.inner + len(scalar.value)] == scalar.value


@pytest.mark.parametrize("text", ["a = ", "[a", "a = 1\na = 2\n", "a = 'open"])
def test_broken_text_is_named(text: str) -> None:
    assert read_toml(text) == "It is not valid TOML"


def test_a_byte_order_mark_is_passed_over() -> None:
    found = read_toml("\xef\xbb\xbfa = 'b'\n")
    assert not isinstance(found, str)
    assert found[-1].value == "b"
