"""Damaged and odd CSV files: times stay exact, a bad row costs itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from trainwright.core.errors import InputError
from trainwright.trace.csvtext import CsvTable, plain_name, read_csv
from trainwright.trace.reader import Sink

EPOCH = 1736412474725417


@dataclass
class Notes:
    """A sink that only listens."""

    entries: list[tuple[str, int, int | None]] = field(default_factory=list)
    rows_lost: int = 0

    def quality(self, code: str, *, count: int = 1, offset: int | None = None, **_: Any) -> None:
        self.entries.append((code, count, offset))

    def lost(self, count: int = 1) -> None:
        self.rows_lost += count


def load(tmp_path: Path, content: str | bytes) -> tuple[CsvTable, Notes]:
    """The table in a file with this content, and what was reported while it was read."""
    path = tmp_path / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    notes = Notes()
    return read_csv(path, cast(Sink, notes)), notes


def times(table: CsvTable, *names: str) -> list[int | None]:
    """Times of a column, None where there is none."""
    values, known = table.ns(*names)
    return [value if ok else None for value, ok in zip(values.tolist(), known.tolist(), strict=True)]


def test_epoch_times_keep_their_nanoseconds_with_tab_quotes_and_many_digits(tmp_path: Path) -> None:
    rows = [f"{EPOCH}.508\t", f'"{EPOCH}.509\t"', f"{EPOCH}", f"{EPOCH}.50949999", "828.33653125", "123.70133399963379"]
    table, notes = load(tmp_path, "Start Time(us)\n" + "\n".join(rows) + "\n")
    whole = EPOCH * 1000
    assert times(table, "Start Time") == [whole + 508, whole + 509, whole, whole + 509, 828_337, 123_701]
    assert notes.entries == []


def test_half_a_nanosecond_rounds_to_even(tmp_path: Path) -> None:
    table, _ = load(tmp_path, "t(us)\n0.0005\n0.0015\n0.0025\n-0.0015\n")
    assert times(table, "t") == [0, 2, 2, -2]


def test_the_head_names_the_unit(tmp_path: Path) -> None:
    table, _ = load(tmp_path, "a(us),b(ms),c(s),d(ns),e\n1.5,1.5,1.5,15,1.5\n")
    assert [times(table, name)[0] for name in "abcde"] == [1_500, 1_500_000, 1_500_000_000, 15, 1_500]


def test_a_time_without_epoch_may_be_in_scientific_notation(tmp_path: Path) -> None:
    table, notes = load(tmp_path, "Duration(us)\n1.5E-02\n2e3\n")
    assert times(table, "Duration") == [15, 2_000_000]
    assert notes.entries == []


def test_an_epoch_time_that_a_spreadsheet_rounded_is_unknown_and_counted(tmp_path: Path) -> None:
    table, notes = load(tmp_path, f"Start Time(us)\n1.69512E+15\n{EPOCH}.001\n1.69512E+15\n")
    assert times(table, "Start Time") == [None, EPOCH * 1000 + 1, None]
    assert notes.entries == [("rounded-time", 2, None)]


def test_cells_without_a_value_are_silent_and_garbage_is_counted(tmp_path: Path) -> None:
    table, notes = load(tmp_path, "Wait Time(us),Stream ID,Ratio\nN/A,N/A,N/A\n,7,0.5\nsoon,many,much\n1,8.0,1e-3\n")
    assert times(table, "Wait Time") == [None, None, None, 1_000]
    assert table.ints("Stream ID").tolist() == [-1, 7, -1, 8]
    assert [str(value) for value in table.floats("Ratio")] == ["nan", "0.5", "nan", "0.001"]
    assert notes.entries == [("bad-value", 1, None)] * 3


def test_a_time_outside_of_64_bits_is_no_time(tmp_path: Path) -> None:
    table, notes = load(tmp_path, "t(us)\n99999999999999999999\n9223372036854775.807\n9223372036854775.808\n")
    assert times(table, "t") == [None, 2**63 - 1, None]
    assert notes.entries == [("bad-value", 2, None)]


def test_stacks_over_several_lines_and_shapes_in_three_quotes(tmp_path: Path) -> None:
    content = 'Name,Input Shapes,Call Stack,Count\r\nmm,"""32,3;64""","a.py(1): f;\r\nb.py(2): g",1\r\nadd,,,2\r\n'
    table, notes = load(tmp_path, content)
    assert table.text("Input Shapes", unquote=True).to_pylist() == ["32,3;64", None]
    assert table.text("Call Stack").to_pylist() == ["a.py(1): f;\r\nb.py(2): g", None]
    assert table.ints("Count").tolist() == [1, 2]
    assert notes.entries == []


def test_a_truncated_last_row_costs_itself(tmp_path: Path) -> None:
    content = "Name,Time(us),Size(KB)\na,1,2\nb,3"
    table, notes = load(tmp_path, content)
    assert table.text("Name").to_pylist() == ["a"]
    assert notes.entries == [("bad-row", 1, content.index("b,3"))]
    assert notes.rows_lost == 1


def test_a_last_row_truncated_inside_quotes_costs_itself(tmp_path: Path) -> None:
    content = 'Name,Call Stack,Count\na,"x\ny",1\nb,"z\nand then the disk was fu'
    table, notes = load(tmp_path, content)
    assert table.text("Name").to_pylist() == ["a"]
    assert notes.entries[0] == ("bad-row", 1, content.index("b,"))


@pytest.mark.parametrize("broken", ['b,"2\n', 'b,"2"3\n', "b\n", "b,2,3\n"])
def test_a_broken_row_in_the_middle_costs_itself(tmp_path: Path, broken: str) -> None:
    content = f'Name,Text\na,"1"\n{broken}c,"3, and more"\nd,4\n'
    table, notes = load(tmp_path, content)
    assert table.text("Name").to_pylist() == ["a", "c", "d"]
    assert table.text("Text").to_pylist() == ["1", "3, and more", "4"]
    assert notes.entries[0] == ("bad-row", 1, content.index("b"))


def test_two_rows_that_lost_a_quote_each_cost_themselves(tmp_path: Path) -> None:
    table, notes = load(tmp_path, 'Name,Text\na,"1\nb,"2"\nc,"3\nd,"4"\n')
    assert table.text("Name").to_pylist() == ["b", "d"]
    assert notes.rows_lost == 2


def test_quotes_inside_bare_cells_are_text(tmp_path: Path) -> None:
    table, notes = load(tmp_path, 'Name,Text\na,5"\nb,say "x"\nc,"6"\n')
    assert table.text("Text").to_pylist() == ['5"', 'say "x"', "6"]
    assert notes.entries == []


def test_blanks_behind_a_closing_quote_do_no_harm(tmp_path: Path) -> None:
    table, notes = load(tmp_path, 'Name,Time(us)\n"a" ,"1.5"\t\nb,2\n')
    assert table.text("Name").to_pylist() == ["a", "b"]
    assert times(table, "Time") == [1_500, 2_000]
    assert notes.entries == []


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    table, notes = load(tmp_path, b"Name,Count\n\xb1\xea\xcc\xe2,1\nplain,2\n")
    names = table.text("Name").to_pylist()
    assert names[1] == "plain"
    assert "\ufffd" in names[0]
    assert table.ints("Count").tolist() == [1, 2]
    assert notes.entries == [("not-utf8", 1, None)]


def test_a_byte_order_mark_and_nul_bytes_do_no_harm(tmp_path: Path) -> None:
    table, _ = load(tmp_path, b"\xef\xbb\xbfName,Count\na\0b,1\n")
    assert table.find("name") == 0
    assert table.text("Name").to_pylist() == ["a b"]


def test_columns_are_found_without_unit_case_and_punctuation(tmp_path: Path) -> None:
    table, _ = load(
        tmp_path, "Device_id,block num,Communication(Not Overlapped),Communication,Task Start Time(us)\n0,1,2,3,4\n"
    )
    assert table.ints("Block Dim", "Block Num").tolist() == [1]
    assert table.ints("Communication").tolist() == [3]
    assert table.ints("Communication(Not Overlapped)").tolist() == [2]
    assert times(table, "Start Time", "Task Start Time") == [4_000]
    assert table.ints("device id").tolist() == [0]
    assert plain_name("Ratio(%)") == "ratio"


def test_a_missing_column_is_empty(tmp_path: Path) -> None:
    table, notes = load(tmp_path, "Name\na\nb\n")
    assert times(table, "Start Time") == [None, None]
    assert table.ints("Stream ID", default=0).tolist() == [0, 0]
    assert table.text("Type").to_pylist() == [None, None]
    assert notes.entries == []


def test_sizes_are_whole_bytes(tmp_path: Path) -> None:
    table, _ = load(tmp_path, "Size(KB),Total(MB),Bare\n18816.5,954.3701171875,0.5\nN/A,,\n")
    assert table.sizes("Size").tolist() == [19_268_096, -1]
    assert table.sizes("Total").tolist() == [1_000_729_600, -1]
    assert table.sizes("Bare", unit="KB").tolist() == [512, -1]


def test_whole_tables_keep_numbers_as_numbers(tmp_path: Path) -> None:
    content = (
        f'Name,Count,Ratio,Start Time(us),Mixed,Empty,Name\na,1,0.5,"{EPOCH}.508\t",7,N/A,x\nb,2,N/A,{EPOCH},seven,,y\n'
    )
    table, _ = load(tmp_path, content)
    columns = table.whole()
    assert {name: str(column.type) for name, column in columns.items()} == {
        "Name": "string", "Count": "int64", "Ratio": "double", "Start Time(us)": "decimal128(38, 6)",
        "Mixed": "string", "Empty": "null", "Name_2": "string",
    }  # fmt: skip
    assert str(columns["Start Time(us)"][0].as_py()) == f"{EPOCH}.508000"
    assert columns["Ratio"].to_pylist() == [0.5, None]


def test_only_heads_are_a_table_without_rows(tmp_path: Path) -> None:
    table, notes = load(tmp_path, "Name,Time(us)\n")
    assert table.rows == 0
    assert times(table, "Time") == []
    assert notes.entries == []


def test_a_file_without_heads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        load(tmp_path, "\n\n")
