"""The reader of shell text."""

from __future__ import annotations

import pytest

from trainwright.migrate.text.shell import read_shell

COMMANDS = [
    ("a b 'c d' \"e f\"", [["a", "b", "c d", "e f"]]),
    ("a \\\n  b\nc", [["a", "b"], ["c"]]),
    ("a # b\nc", [["a"], ["c"]]),
    ("a#b", [["a#b"]]),
    ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
    ("if a; then b; else c; fi", [["a"], ["b"], ["c"]]),
    ("f() { a; }", [["f"], ["a"]]),
    ("a > out 2>&1 < in", [["a"]]),
    ("cat <<EOF\nrm -rf /\nEOF\nb", [["cat"], ["b"]]),
    ("cat <<'E' && b\nnot read $X\nE\nc", [["cat"], ["b"], ["c"]]),
    ("a <<< text\nb", [["a"], ["b"]]),
    ("a $(b c) `d`", [["b", "c"], ["d"], ["a", "$(b c)", "`d`"]]),
    ("a <(b c) d", [["b", "c"], ["a", "d"]]),
    ("X=1 Y=2 a b", [["a", "b"]]),
    ("x=(a b)\nc", [["c"]]),
    ("a ${X:-$(b)} {c,d}", [["b"], ["a", "${X:-$(b)}", "{c,d}"]]),
    ("a 'open", [["a", "open"]]),
    ("a $(b", [["b"], ["a", "$(b"]]),
    ("a \\", [["a", ""]]),
    (")\n}\na", [["a"]]),
]


@pytest.mark.parametrize(("text", "expected"), COMMANDS)
def test_commands(text: str, expected: list[list[str]]) -> None:
    assert [[word.text for word in command.words] for command in read_shell(text).commands] == expected


ASSIGNMENTS = [
    ("export A=1", [("A", "1")]),
    ('A="b c" d', [("A", "b c")]),
    ('export "A=b"', [("A", "b")]),
    ("env A=1 b", [("A", "1")]),
    ("A=(b c)", [("A", "b c")]),
    ("docker run -e A=1 --env=B=2 image", [("A", "1"), ("B", "2")]),
    ("a A=1", []),
    ('echo "A=1"', []),
]


@pytest.mark.parametrize(("text", "expected"), ASSIGNMENTS)
def test_assignments(text: str, expected: list[tuple[str, str]]) -> None:
    found = read_shell(text).assignments
    assert [place.name for place in found] == [name for name, _ in expected]
    for place, (_, value) in zip(found, expected, strict=True):
        assert text[place.start : place.end] == place.name
        assert text[place.value_start : place.value_end].strip("()") == value


USES = [
    ("a $X ${Y:-$Z} \"$W\" '$no'", ["X", "Y", "Z", "W"]),
    ("a $((X + $Y))", ["Y"]),
    ("unset X", ["X"]),
    ("export X", ["X"]),
    ("cat <<E\n$X ${Y}\nE", ["X", "Y"]),
    ("cat <<'E'\n$X\nE", []),
    ("# $X", []),
    ("echo ${#X} ${!Y}", ["X", "Y"]),
]


@pytest.mark.parametrize(("text", "expected"), USES)
def test_uses(text: str, expected: list[str]) -> None:
    found = read_shell(text).uses
    assert [use.name for use in found] == expected
    assert all(text[use.start : use.end] == use.name for use in found)


def test_a_container_goes_on_behind_a_comment() -> None:
    found = read_shell("a \\\n# a note\n  b\n", container=True).commands
    assert [[word.text for word in command.words] for command in found] == [["a", "b"]]


def test_words_know_their_bytes() -> None:
    text = "a --b=\"c\" 'd' e\\ f"
    for word in read_shell(text).commands[0].words:
        assert word.inner < 0 or text[word.inner : word.inner + len(word.text)] == word.text


NONSENSE = ["$(", "`", "(", "${", "<", "<<", '"', "\\", "a=(", '"$(', "${x:-", "<(", "$((", "{", "cat <<E\n", "$", "'"]


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_ends(text: str) -> None:
    read_shell(text * 3000)
    read_shell(f"{text}\r" * 300)
