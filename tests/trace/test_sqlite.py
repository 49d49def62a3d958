"""SQLite files of other programs: exact values, damage that costs only itself, nothing written."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trainwright.core.errors import InputError, RefusedError
from trainwright.trace.sqlite import Database, is_sqlite
from trainwright.trace.sqlite_cells import Batch

PAGE = 1024
LEAF = 0x0D


class Notes(list[tuple[str, int, str]]):
    """What was reported as damage."""

    def __call__(self, code: str, count: int, example: str) -> None:
        self.append((code, count, example))

    @property
    def counts(self) -> dict[str, int]:
        return {code: count for code, count, _ in self}


def make(path: Path, *statements: str, rows: int = 0) -> Path:
    """A database; `rows` fills ``T(id, name)`` with numbers from 1 and texts of 60 letters."""
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE}")
        for statement in statements:
            connection.execute(statement)
        if rows:
            connection.execute("CREATE TABLE T(id INTEGER PRIMARY KEY, name TEXT)")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO T VALUES (?, ?)", ((at, f"{at:060}") for at in range(1, rows + 1)))
            connection.execute("COMMIT")
    connection.close()
    return path


def whole(path: Path, table: str, *columns: str) -> tuple[list[Batch], Notes]:
    """All batches of a table, and what was reported."""
    notes = Notes()
    with Database(path, notes) as database:
        return list(database.batches(table, columns)), notes


def one(path: Path, table: str, *columns: str) -> tuple[Batch, Notes]:
    """The only batch of a table."""
    (batch,), notes = whole(path, table, *columns)
    return batch, notes


def ids(path: Path) -> tuple[list[int], Notes]:
    """The numbers that can be read from ``T``, in order."""
    batches, notes = whole(path, "T", "id", "name")
    return [number for batch in batches for number in batch.ints("id").tolist()], notes


# --- values ---


def test_numbers_are_exact_whatever_type_they_are_stored_as(tmp_path: Path) -> None:
    make(
        tmp_path / "a.db",
        "CREATE TABLE T(a, b TEXT)",
        f"INSERT INTO T VALUES ({2**53 + 1}, '{2**53 + 1}'), ({2**63 - 1}, '{2**63 - 1}')",
        "INSERT INTO T VALUES (-7, ' 12.0 '), (1e3, '1e3')",
    )
    batch, notes = one(tmp_path / "a.db", "T", "a", "b")
    assert batch.ints("a").tolist() == [2**53 + 1, 2**63 - 1, -7, 1000]
    assert batch.ints("b").tolist() == [2**53 + 1, 2**63 - 1, 12, 1000]
    assert notes == []


def test_floating_point_times_are_rounded_and_counted(tmp_path: Path) -> None:
    make(tmp_path / "a.db", "CREATE TABLE T(a)", "INSERT INTO T VALUES (1736414119758670848.0), (2.5), (4.0), (17)")
    batch, notes = one(tmp_path / "a.db", "T", "a")
    assert batch.ints("a").tolist() == [1736414119758670848, 2, 4, 17]
    assert notes == [("rounded-number", 2, "T.a: 1.7364141197586708e+18")]


def test_what_is_no_number_is_counted_and_marked(tmp_path: Path) -> None:
    make(
        tmp_path / "a.db",
        "CREATE TABLE T(a)",
        "INSERT INTO T VALUES ('x'), (NULL), (x'00ff'), (1e300), (9e999), ('99999999999999999999'), (5)",
    )
    batch, notes = one(tmp_path / "a.db", "T", "a")
    numbers, ok = batch.numbers("a")
    assert ok.tolist() == [False] * 6 + [True]
    assert numbers[-1] == 5
    assert batch.ints("a", default=-9).tolist() == [-9] * 6 + [5]
    assert notes.counts == {"bad-value": 5}


def test_null_is_a_gap_in_every_type(tmp_path: Path) -> None:
    make(tmp_path / "a.db", "CREATE TABLE T(a, b TEXT)", "INSERT INTO T VALUES (1, '2'), (NULL, NULL)")
    batch, notes = one(tmp_path / "a.db", "T", "a", "b")
    assert batch.ints("a").tolist() == [1, -1]
    assert batch.ints("b").tolist() == [2, -1]
    assert np.isnan(batch.floats("a")[1])
    assert batch.texts("b").to_pylist() == ["2", None]
    assert batch.natural("a").to_pylist() == [1, None]
    assert notes == []


def test_the_natural_type_holds_all_values(tmp_path: Path) -> None:
    make(
        tmp_path / "a.db",
        "CREATE TABLE T(i, f, t, n)",
        "INSERT INTO T VALUES (1, 1, 1, NULL), (2, 2.5, 'x', NULL)",
    )
    batch, _ = one(tmp_path / "a.db", "T", "i", "f", "t", "n")
    types = {name: str(batch.natural(name).type) for name in "iftn"}
    assert types == {"i": "int64", "f": "double", "t": "string", "n": "null"}
    assert batch.natural("t").to_pylist() == ["1", "x"]


def test_text_that_is_not_utf8_is_read_with_replacements(tmp_path: Path) -> None:
    make(tmp_path / "a.db", "CREATE TABLE T(a)", "INSERT INTO T VALUES (CAST(x'6162ff' AS TEXT)), ('ü')")
    batch, notes = one(tmp_path / "a.db", "T", "a")
    assert batch.texts("a").to_pylist() == ["ab�", "ü"]
    assert notes.counts == {"bad-text": 1}


def test_some_rows_of_a_batch(tmp_path: Path) -> None:
    batch, _ = one(make(tmp_path / "a.db", rows=4), "T", "id", "name")
    part = batch.only(np.array([False, True, False, True]))
    assert (part.rows, part.ints("id").tolist()) == (2, [2, 4])


# --- names ---


def test_columns_are_found_by_name_without_case_or_by_older_names(tmp_path: Path) -> None:
    make(tmp_path / "a.db", "CREATE TABLE Old(START_NS, extra, OTHER)", "INSERT INTO Old VALUES (1, 2, 3)")
    renamed = {"New": ("old",), "startNs": ("start_ns",)}
    with Database(tmp_path / "a.db", Notes(), renamed) as database:
        (batch,) = database.batches("new".title(), ("startNs", "other", "missing"))
        assert batch.ints("startNs").tolist() == [1]
        assert batch.ints("other").tolist() == [3]
        assert batch.ints("missing", default=8).tolist() == [8]
        assert (batch.has("other"), batch.has("missing")) == (True, False)
        assert list(database.batches("Absent", ("a",))) == []


def test_only_stored_tables_and_columns_are_read(tmp_path: Path) -> None:
    make(
        tmp_path / "a.db",
        "CREATE TABLE T(a, b AS (zeroblob(1000000000)))",
        "INSERT INTO T(a) VALUES (1)",
        "CREATE VIEW V AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
        "CREATE VIRTUAL TABLE F USING fts5(text)",
    )
    with Database(tmp_path / "a.db", Notes()) as database:
        assert database.find("T") is not None
        assert database.tables["t"].columns == ("a",)
        assert database.find("V") is None
        assert database.find("F") is None


def test_paths_with_characters_that_mean_something_in_an_address(tmp_path: Path) -> None:
    path = make(tmp_path / "a?mode=rwc#b%41 ü.db", rows=3)
    assert ids(path)[0] == [1, 2, 3]


# --- the file stays as it is ---


def test_nothing_is_written_even_when_the_file_has_a_journal_mode(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", "PRAGMA journal_mode = WAL", rows=3)
    for beside in tmp_path.glob("a.db-*"):
        beside.unlink()
    before = path.read_bytes()
    assert ids(path)[0] == [1, 2, 3]
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_changes_left_in_a_journal_are_mentioned(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", rows=3)
    (tmp_path / "a.db-wal").write_bytes(b"x")
    found, notes = ids(path)
    assert found == [1, 2, 3]
    assert notes.counts == {"journal-ignored": 1}


# --- damage ---


def leaves(data: bytes) -> list[tuple[int, int]]:
    """(page number from 0, rows) of the leaf pages of tables, in file order, behind the first page."""
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    return [(at, int.from_bytes(page[3:5], "big")) for at, page in enumerate(pages) if at and page[0] == LEAF]


@pytest.mark.parametrize("broken", [(3,), (3, 4, 20), (0,)])
def test_a_broken_page_costs_the_rows_on_it(tmp_path: Path, broken: tuple[int, ...]) -> None:
    path = make(tmp_path / "a.db", rows=1000)
    data = bytearray(path.read_bytes())
    lost = 0
    pages = leaves(data)
    for which in broken:
        page, rows = pages[which]
        data[page * PAGE : (page + 1) * PAGE] = b"\xff" * PAGE
        lost += rows
    path.write_bytes(data)
    found, notes = ids(path)
    assert len(found) == len(set(found)) == 1000 - lost
    assert found == sorted(found)
    assert sum(count for code, count, _ in notes if code == "corrupt-table") == lost


def test_a_broken_last_page_ends_the_table(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", rows=1000)
    data = bytearray(path.read_bytes())
    page, rows = leaves(data)[-1]
    data[page * PAGE : (page + 1) * PAGE] = b"\xff" * PAGE
    path.write_bytes(data)
    found, notes = ids(path)
    assert found == list(range(1, 1001 - rows))
    assert notes.counts == {"corrupt-table": 1}  # how many rows followed cannot be known


def test_a_cut_file_gives_the_rows_before_the_cut(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", rows=1000)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    found, notes = ids(path)
    assert 400 < len(found) < 600
    assert found == list(range(1, len(found) + 1))
    assert set(notes.counts) == {"truncated-file", "corrupt-table"}


def test_pages_that_point_back_do_not_repeat_for_ever(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", rows=1000)
    data = bytearray(path.read_bytes())
    root = next(at for at in range(PAGE, len(data), PAGE) if data[at] == 0x05)
    cells = int.from_bytes(data[root + 3 : root + 5], "big")
    for cell in range(cells):  # every entry of the index leads to the index itself
        offset = root + int.from_bytes(data[root + 12 + 2 * cell : root + 14 + 2 * cell], "big")
        data[offset : offset + 4] = (root // PAGE + 1).to_bytes(4, "big")
    path.write_bytes(data)
    found, notes = ids(path)
    assert len(found) <= len(data)
    assert "corrupt-table" in notes.counts


def test_a_broken_entry_in_the_table_of_contents_costs_that_table(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", "CREATE TABLE Other(a)", rows=3)
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE Other(((' WHERE name = 'Other'")
    connection.close()
    assert ids(path)[0] == [1, 2, 3]


def test_a_message_that_is_not_utf8_is_damage_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Garbling(sqlite3.Connection):
        """Python fails to decode what SQLite says about a damaged page."""

        def execute(self, query: str, *rest: Any) -> sqlite3.Cursor:
            if "FROM" in query and '"T"' in query:
                b"\xf6".decode()
            return super().execute(query, *rest)

    path = make(tmp_path / "a.db", rows=10)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: connect(*given, factory=Garbling, **named))
    batches, notes = whole(path, "T", "id")
    assert batches == []
    assert notes.counts == {"corrupt-table": 1}


def test_an_endless_cell_costs_its_row(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", rows=3)
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("UPDATE T SET name = zeroblob(20000000) WHERE id = 2")
    connection.close()
    found, notes = ids(path)
    if sys.version_info >= (3, 11):
        assert found == [1, 3]
        assert notes.counts == {"corrupt-table": 1}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a SQLite file"),
        (b"SQLite format 3\0" + bytes(40), "not a SQLite file"),
        (b"SQLite format 3\0" + bytes(200), "cannot be read as a SQLite file"),
        (b"PK\3\4" + bytes(200), "not a SQLite file"),
    ],
)
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(InputError, match=says):
        Database(tmp_path / "a.db", Notes())


def test_a_database_above_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "a.db", rows=100)
    monkeypatch.setenv("TRAINWRIGHT_MAX_BYTES", "2000")
    with pytest.raises(RefusedError, match="TRAINWRIGHT_MAX_BYTES"):
        Database(path, Notes())


def test_recognised_by_its_first_bytes(tmp_path: Path) -> None:
    assert is_sqlite(make(tmp_path / "a.db", rows=1))
    (tmp_path / "b.db").write_text("text")
    assert not is_sqlite(tmp_path / "b.db")
    assert not is_sqlite(tmp_path / "absent.db")
    assert not is_sqlite(tmp_path)
