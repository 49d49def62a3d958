"""Read a SQLite file that another program wrote: without changing it, without trusting it, column by column.

The file is opened read-only and immutable, so no journal, lock or ``-shm`` file appears beside it. Tables and columns
are found by name without case, under their present or an older name. A page that cannot be read costs the rows on it;
a value that does not fit costs its row; both are counted and reported. Views, virtual tables and generated columns
are not read: they are programs, not data.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from trainwright.core.errors import InputError, RefusedError
from trainwright.core.settings import max_input_bytes
from trainwright.core.units import INT64_MAX
from trainwright.trace.sqlite_cells import Batch, Trouble, lenient

MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
#: Rows of one batch; a batch is the unit of memory and of damage control.
BATCH_ROWS = 1 << 16
#: Longest text or blob; longer ones cost their row.
MAX_CELL_BYTES = 16 << 20
#: Most tables looked at, and most damaged places of one table that are stepped over.
MAX_TABLES = 4096
MAX_GAPS = 256
LOWEST_ID = -(2**63)
#: What reading a damaged file raises; the latter when the message quotes a name that is not UTF-8.
DAMAGE = (sqlite3.Error, UnicodeDecodeError)

Row = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the file: its name and its stored columns as the file writes them."""

    name: str
    columns: tuple[str, ...]


class Database:
    """A SQLite file, open for reading; use as a context manager.

    Args:
        path: the file.
        trouble: where damage is reported.
        renamed: older names of a table or column, by the name this program uses.

    Raises:
        InputError: not a SQLite file, or one whose table of contents cannot be read.
        RefusedError: larger than `trainwright.core.settings.max_input_bytes`.
    """

    def __init__(self, path: Path, trouble: Trouble, renamed: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.path = path
        self._trouble = trouble
        self._renamed = renamed or {}
        self.size = _check_header(path, trouble)
        # numbers and bytes straight from the file; text is decoded a column at a time
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            self._connection = sqlite3.connect(uri, uri=True, isolation_level=None)
            self._connection.text_factory = bytes
            for pragma in ("trusted_schema=OFF", "writable_schema=ON"):  # the latter reads on past a broken schema
                self._connection.execute(f"PRAGMA {pragma}")
            if sys.version_info >= (3, 11):
                self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(MAX_CELL_BYTES, max(self.size, 1 << 16)))
            self.tables = self._read_tables()
        except DAMAGE as error:
            raise InputError(f"{path} cannot be read as a SQLite file: {error}", todo="export it again") from error

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._connection.close()

    def _read_tables(self) -> dict[str, Table]:
        rows = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 LIMIT ?", (MAX_TABLES,)
        ).fetchall()
        tables = {}
        for (raw,) in rows:
            name = lenient(raw) or ""
            try:
                columns = self._connection.execute("SELECT name FROM pragma_table_info(?)", (name,)).fetchall()
            except DAMAGE as error:
                self._trouble("table-unreadable", 1, f"{name}: {error}")
                continue
            if columns and not name.lower().startswith("sqlite_"):
                tables[name.lower()] = Table(name=name, columns=tuple(lenient(column) or "" for (column,) in columns))
        return tables

    def find(self, table: str) -> Table | None:
        """The table of this name, or of an older name for it, without regard to case."""
        return next((self.tables[name] for name in self._spellings(table) if name in self.tables), None)

    def _spellings(self, name: str) -> list[str]:
        return [spelling.lower() for spelling in (name, *self._renamed.get(name, ()))]

    @cached_property
    def _most_rows(self) -> int:
        """A row takes at least three bytes; a table that gives more rows than fit repeats its pages."""
        return self.size // 3

    def batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """The rows of a table in file order, in batches; nothing when there is no such table.

        Args:
            table: present name of the table.
            columns: present names of the columns wanted; None for all, under the names of the file.
        """
        found = self.find(table)
        if found is None:
            return
        stored = {name.lower(): name for name in found.columns}
        present: dict[str, str] = {}
        for name in found.columns if columns is None else columns:
            spelling = next((stored[key] for key in self._spellings(name) if key in stored), None)
            if spelling is not None:
                present[name] = spelling
        if not present:
            return
        for rows in self._rows(found.name, [_quoted(column) for column in present.values()]):
            yield Batch(found.name, dict(zip(present, zip(*rows, strict=True), strict=True)), len(rows), self._trouble)

    def _rows(self, table: str, columns: Sequence[str]) -> Iterator[list[Row]]:
        """Batches of tuples; damage is stepped over."""
        source = f"FROM {_quoted(table)} NOT INDEXED"
        done = 0
        try:
            cursor = self._connection.execute(f"SELECT {', '.join(columns)} {source}")
            while rows := cursor.fetchmany(BATCH_ROWS):
                done += len(rows)
                if done > self._most_rows:
                    self._trouble("corrupt-table", 1, f"{table}: more rows than the file has room for; rest left out")
                    return
                yield rows
        except DAMAGE as error:
            damage = f"{table}: {error}"
        else:
            return
        try:
            yield from _Salvage(self._connection, table, columns, done, self._most_rows).rows(self._trouble, damage)
        except DAMAGE:
            self._trouble("corrupt-table", 1, f"{damage}; the rest of the table is lost")


class _Salvage:
    """Reads the rest of a damaged table by row id, stepping over what cannot be read."""

    def __init__(
        self, connection: sqlite3.Connection, table: str, columns: Sequence[str], done: int, most: int
    ) -> None:
        self._connection = connection
        source = f"FROM {_quoted(table)} NOT INDEXED"
        # "at or after" finds the page of an id; "after" would begin on the page before, which may be the damaged one
        self._from = f"SELECT _rowid_, {', '.join(columns)} {source} WHERE _rowid_ >= ? ORDER BY _rowid_"
        self._left = most
        self._next = LOWEST_ID
        if done:  # the scan so far went in row id order
            query = f"SELECT _rowid_ {source} ORDER BY _rowid_ LIMIT 1 OFFSET ?"
            self._next = connection.execute(query, (done - 1,)).fetchone()[0] + 1

    def rows(self, trouble: Trouble, damage: str) -> Iterator[list[Row]]:
        """The rows after those already read, in one batch per undamaged stretch."""
        lost = 0
        for _ in range(MAX_GAPS):
            stretch, whole = self._stretch()
            if stretch:
                yield stretch
            if whole:
                break
            following = self._next_readable()
            if following is None:
                lost += 1  # at least: how many rows were behind the damage cannot be known
                break
            lost += following - max(self._next, 1)
            self._next = following
        trouble("corrupt-table", max(lost, 1), f"{damage}; up to {lost:,} row(s) lost")

    def _stretch(self) -> tuple[list[Row], bool]:
        """Rows from the next one up to damage, and whether the table ended."""
        rows: list[Row] = []
        try:
            for row in self._connection.execute(self._from, (self._next,)):
                self._keep(row, rows)
                if not self._left:
                    return rows, True
        except (*DAMAGE, OverflowError):
            # the cursor runs one row ahead: the row before the damage is lost with the error
            while self._left and (found := self._first_from(self._next)) is not None:
                self._keep(found, rows)
            return rows, not self._left
        return rows, True

    def _keep(self, row: Row, rows: list[Row]) -> None:
        """Add a row; damaged pages may give rows again and again, so there is an end to it."""
        rows.append(row[1:])
        self._next = row[0] + 1
        self._left -= 1

    def _next_readable(self) -> int | None:
        """The first row id found readable beyond the damage; None when nothing follows.

        Doubling steps find a readable place, bisection the start of it; both seek through the index pages of the
        table and do not touch the damaged leaf.
        """
        start = max(self._next, 1)
        below, above = -1, 0
        while self._first_from(start + above) is None:
            below, above = above, 2 * above + 1
            if start + above > INT64_MAX:
                return None
        while above - below > 1:
            middle = (above + below) // 2
            if self._first_from(start + middle) is None:
                below = middle
            else:
                above = middle
        row = self._first_from(start + above)
        return None if row is None else int(row[0])

    def _first_from(self, rowid: int) -> Row | None:
        """The first row with this id or a larger one, None when there is none or it cannot be read."""
        try:
            found: Row | None = self._connection.execute(f"{self._from} LIMIT 1", (rowid,)).fetchone()
        except (*DAMAGE, OverflowError):
            return None
        return found


def is_sqlite(path: Path) -> bool:
    """Whether the file starts as a SQLite file does."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _check_header(path: Path, trouble: Trouble) -> int:
    """The size of the file, after its header and its neighbours have been looked at."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}", todo="check the file") from error
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        raise InputError(f"{path} is not a SQLite file", todo="check the file")
    limit = max_input_bytes()
    if size > limit:
        raise RefusedError(
            f"{path} has {size:,} bytes", allowed=f"up to {limit:,} bytes", todo="raise TRAINWRIGHT_MAX_BYTES"
        )
    page = int.from_bytes(header[16:18], "big")
    declared = int.from_bytes(header[28:32], "big") * (1 << 16 if page == 1 else page)
    if header[24:28] == header[92:96] and declared > size:  # the page count is only kept by newer writers
        trouble("truncated-file", 1, f"{size:,} of {declared:,} bytes are there")
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        trouble("journal-ignored", 1, f"{journal.name} holds changes that were never written into {path.name}")
    return size


def _quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
