"""Edits in bytes: what no edit names stays, whatever the encoding and the newlines."""

from __future__ import annotations

import pytest

from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, is_no_op, spliced

CASES = [
    b'x = "cuda"\r\ny = 1\r\n',
    '# -*- coding: gbk -*-\n# 中文\nx = "cuda"\n'.encode("gbk"),
    b'\xef\xbb\xbfx = "cuda"\n',
    b'# -*- coding: nonsense -*-\nx = "cuda" # \xff\n',
]


@pytest.mark.parametrize("data", CASES)
def test_only_the_word_changes(data: bytes) -> None:
    source = python_source("a.py", data)
    at = source.byte_at(source.text.index("cuda"))
    assert spliced(source, []) == data
    assert spliced(source, [Edit(start=at, end=at + 4, new="npu")]) == data.replace(b"cuda", b"npu")


@pytest.mark.parametrize("data", CASES)
def test_places_go_both_ways(data: bytes) -> None:
    source = python_source("a.py", data)
    assert all(source.char_at(source.byte_at(char)) == char for char in range(len(source.text)))


def test_inserted_lines_take_the_newline_of_the_file() -> None:
    source = python_source("a.py", b"import torch\r\n")
    assert spliced(source, [Edit(start=0, end=0, new="import os\n")]) == b"import os\r\nimport torch\r\n"


def test_the_first_of_two_overlapping_remarks_wins_and_equal_edits_count_once() -> None:
    def remark(number: str, *edits: Edit) -> Remark:
        return Remark(
            number=number, start=edits[0].start, end=edits[0].end, title=number, safety="safe", edits=tuple(edits)
        )

    one, same = remark("TW101", Edit(start=0, end=4, new="a")), remark("TW102", Edit(start=0, end=4, new="a"))
    other = remark("TW103", Edit(start=2, end=6, new="b"))
    assert compatible([other, one, same]) == [one, same]


def test_an_edit_that_changes_nothing_is_known() -> None:
    source = python_source("a.py", b"abc")
    assert is_no_op(source, Edit(start=0, end=3, new="abc"))
    assert not is_no_op(source, Edit(start=0, end=3, new="abd"))
