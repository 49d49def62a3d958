from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from tests.report.sample_page import sample_page
from tests.report.small_tables import page_of, parts, sizes
from trainwright.core.result import Result
from trainwright.report.contract import answer
from trainwright.report.renderer import RENDERERS, Page

JSON = RENDERERS["json-data"]


def _no_constants(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


def test_the_text_is_the_answer_of_the_contract() -> None:
    page = sample_page()
    text = JSON.render(page)

    assert json.loads(text, parse_constant=_no_constants) == answer("analyze", page.result)
    assert list(json.loads(text)) == ["schema", "command", "tables", "findings", "quality", "store"]
    assert len(json.loads(text)["tables"]["step_time"]["rows"]) == 32  # whatever people are shown


def test_equal_results_give_equal_text() -> None:
    assert JSON.render(sample_page()) == JSON.render(sample_page())


def test_one_row_stands_on_one_line() -> None:
    assert JSON.render(page_of(sizes([("é", np.int64(1)), ("b", 2.5)]))) == (
        '{\n"schema": "trainwright/1",\n"command": "test",\n'
        '"tables": {\n"sizes": {"columns": ["name", "bytes"], "rows": [\n["\\u00e9", 1],\n["b", 2.5]\n]}\n},\n'
        '"findings": [],\n"quality": []\n}\n'
    )


def test_hostile_values_stay_strict_json() -> None:
    page = page_of(parts((0, '"\x00\u2028\ud800', math.nan, math.inf)))
    table = json.loads(JSON.render(page), parse_constant=_no_constants)["tables"]["parts"]

    assert table["rows"] == [[0, '"\x00\u2028\ufffd', None, None]]
    assert table["non_finite"] == {"a_ns": 1, "b_ns": 1}


def test_an_empty_result_has_all_keys() -> None:
    text = JSON.render(Page(command="x", title="", result=Result()))

    assert json.loads(text) == {"schema": "trainwright/1", "command": "x", "tables": {}, "findings": [], "quality": []}


def test_writing_gives_the_same_text(tmp_path: Path) -> None:
    (path,) = JSON.write(sample_page(), tmp_path / "a.json")

    assert path.read_text() == JSON.render(sample_page())
