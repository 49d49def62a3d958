from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.report.sample_page import sample_page
from tests.report.small_tables import page_of, parts, sizes
from trainwright.core.errors import OutputError
from trainwright.core.result import TableSpec
from trainwright.report.renderer import RENDERERS

CSV = RENDERERS["csv-data"]


def _read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def test_every_table_has_a_file_with_all_columns_and_raw_values(tmp_path: Path) -> None:
    written = CSV.write(sample_page(top=1), tmp_path / "out")

    names = ["step_time", "operators", "kernels", "memory", "leaks", "findings", "quality"]
    assert [path.name for path in written] == [f"{name}.csv" for name in names]
    steps = _read(tmp_path / "out" / "step_time.csv")
    assert len(steps) == 33
    assert steps[0][8] == "stage_ns"
    assert steps[1][:4] == ["0", "0", "104000000", "55000000"]
    assert _read(tmp_path / "out" / "leaks.csv") == [["op"]]


def test_findings_and_quality_have_files_of_their_own(tmp_path: Path) -> None:
    CSV.write(sample_page(), tmp_path / "out")

    header, first, second, _ = _read(tmp_path / "out" / "findings.csv")
    assert dict(zip(header, first, strict=True))["saving_ns"] == "26000000"
    assert dict(zip(header, first, strict=True))["evidence_table"] == "step_time"
    assert second[header.index("file") :] == ["train.py", "212", "9", ""]
    assert _read(tmp_path / "out" / "quality.csv")[1] == [
        "clipped-event", "17", "dur < 0", "rank3/trace_view.json", "9182736"
    ]  # fmt: skip


def test_the_bytes_are_those_of_rfc_4180(tmp_path: Path) -> None:
    page = page_of(parts((0, 'a "b", c\nd', np.int64(5), None), (True, "é", 0.1, "")))
    CSV.write(page, tmp_path / "out")

    assert (tmp_path / "out" / "parts.csv").read_bytes() == (
        'rank,name,a_ns,b_ns\r\n0,"a ""b"", c\nd",5,\r\ntrue,é,0.1,\r\n'.encode()
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_never_becomes_a_formula(tmp_path: Path, start: str) -> None:
    CSV.write(page_of(sizes([(f"{start}cmd|' /C calc'!A0", -5)])), tmp_path / "out")

    assert _read(tmp_path / "out" / "sizes.csv")[1] == [f"'{start}cmd|' /C calc'!A0", "-5"]


def test_a_table_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    spec = TableSpec(name="../../etc/x y", title="", help="", columns=())
    written = CSV.write(page_of(spec.table([])), tmp_path / "out")

    assert written[0] == tmp_path / "out" / "______etc_x_y.csv"
    assert written[0].exists()


def test_the_folder_is_replaced_only_when_forced(tmp_path: Path) -> None:
    CSV.write(sample_page(), tmp_path / "out")
    with pytest.raises(OutputError, match="--force"):
        CSV.write(page_of(sizes([])), tmp_path / "out")

    CSV.write(page_of(sizes([])), tmp_path / "out", force=True)

    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["findings.csv", "quality.csv", "sizes.csv"]


def test_all_files_as_one_text() -> None:
    text = CSV.render(page_of(sizes([("a", 1)])))

    assert text.startswith("sizes.csv\r\nname,bytes\r\na,1\r\n\r\nfindings.csv\r\n")
