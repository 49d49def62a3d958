"""SQL over the store and the analyses of a run, with DuckDB, read-only."""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from trainwright.analyze.calls import detail_rows
from trainwright.analyze.comm_ops import comm_ops
from trainwright.analyze.engine import analyze_run, table_names, table_owner
from trainwright.analyze.interruptible import interruptible
from trainwright.core.errors import InputError
from trainwright.core.result import Cell, Column, Result, Table, TableSpec, Unit
from trainwright.core.text import encodable
from trainwright.trace.schema import TABLES
from trainwright.trace.store import RankStore, Run

#: Tables whose row number other tables refer to, and the column that gives it.
_ROW_NUMBERS = {"tracks": "track", "lanes": "lane", "slices": "row"}
TIMELINE = "timeline"
ANALYSIS_SCHEMA = "analysis"
_TIMELINE_PARTS = ("slices", "lanes", "tracks")
_TIMELINE_QUERY = """
    SELECT s.rank, s.start_ns, s.dur_ns, s.self_ns, s.name, s.kind, t.process, t.thread, t.side, t.stream, t.device,
           l.depth, s.link, s.event, s.row, s.parent
    FROM slices s JOIN lanes l USING (rank, lane) JOIN tracks t USING (rank, track)
"""
_UNIT_BY_SUFFIX: tuple[tuple[str, Unit], ...] = (("_ns", "ns"), ("bytes", "bytes"), ("share", "share"))


#: How far rows that nobody asked for are counted.
MOST_COUNTED = 10_000
#: Most disk a query may use for what does not fit into memory.
MOST_SPILLED = "8GB"
_NO_TABLE = re.compile(r"Table with name (.+?) does not exist")


def run_query(run: Run, query: str, *, most: int | None = None) -> Result:
    """The rows of one SELECT as a table called ``result``: all, or the first `most` and how many more there are.

    Tables: those of `trainwright.trace.schema` and ``reported_*`` (with a ``rank`` column), ``timeline`` (the slices
    with their tracks), and those of every analysis. Where the store and an analysis have a table of one name, such as
    ``kernels``, the plain name is the store's; ``analysis.kernels`` is always that of the analysis.

    Raises:
        InputError: not one SELECT, an unknown table, or an error in the query.
    """
    connection = _connect()
    named = [(schema.lower(), name.lower()) for schema, name in _tables_of(connection, query)]
    stored = set(_stored_names(run))
    plain = {name for schema, name in named if schema in ("", "main")}
    if TIMELINE in plain:
        plain |= set(_TIMELINE_PARTS)
    analysed = {name for schema, name in named if schema == ANALYSIS_SCHEMA} | (plain - stored)
    for name in sorted(plain & stored):
        _create_stored(connection, run, name)
    owners = {name: leaf.code for name in analysed if (leaf := table_owner(name)) is not None}
    if owners:
        result = analyze_run(run, sorted(set(owners.values())))
        connection.execute(f"CREATE SCHEMA {ANALYSIS_SCHEMA}")
        for name in sorted(owners):
            _create_analysed(connection, result.table(name), plain=name not in stored)
    if TIMELINE in plain:
        connection.execute(f"CREATE VIEW {TIMELINE} AS {_TIMELINE_QUERY}")
    try:
        answer = interruptible(connection, lambda: _fetch(connection, query, most))
    except duckdb.Error as error:
        if missing := _NO_TABLE.search(str(error)):
            raise _no_table(missing.group(1), [*stored, TIMELINE, *table_names()]) from error
        raise InputError(
            f"the query failed: {error}", todo="see `trainwright sql RUN --tables` for tables and columns"
        ) from error
    return Result(tables=(_cut(answer, most),))


def _no_table(name: str, names: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(name.lower(), dict.fromkeys(names), n=3)
    return InputError(
        f"there is no table {name}" + (f"; did you mean {' or '.join(near)}?" if near else ""),
        todo="see `trainwright sql RUN --tables` for tables and columns",
    )


def _fetch(connection: Any, query: str, most: int | None) -> pa.Table:
    """The rows of a query; with `most`, no more than are needed to count those beyond up to `MOST_COUNTED`."""
    answer = connection.sql(query)
    limited = answer if most is None else answer.limit(most + MOST_COUNTED + 1)
    return limited.to_arrow_table().rename_columns(answer.columns)  # a limit gives other names to repeated ones


def _cut(answer: pa.Table, most: int | None) -> Table:
    """The first `most` rows, and how many more there are."""
    if most is None:
        return _as_table(answer)
    beyond = max(answer.num_rows - most, 0)
    table = _as_table(answer.slice(0, most))
    return replace(table, unread=min(beyond, MOST_COUNTED), unread_or_more=beyond > MOST_COUNTED)


def filter_tables(tables: Sequence[Table], condition: str) -> tuple[tuple[Table, ...], list[str]]:
    """The tables with only the rows for which an SQL condition holds, and the names of those without its columns.

    The latter stay whole.

    Raises:
        InputError: the condition is not SQL, or no table has its columns.
    """
    connection = _connect()
    if not _is_condition(connection, condition):
        raise InputError(
            f"--where {condition!r} is not an SQL condition",
            allowed="what stands behind WHERE, such as rank = 0",
            todo="correct it",
        )
    kept: list[Table] = []
    whole: list[str] = []
    problem = ""
    for table in tables:
        try:
            connection.register("candidate", _to_arrow(table))
            rows = connection.sql(f"SELECT _row FROM candidate WHERE ({condition}) ORDER BY _row").fetchall()
        except (duckdb.BinderException, duckdb.ConversionException) as error:
            problem = str(error)
            kept.append(table)
            whole.append(table.name)
            continue
        except duckdb.Error as error:
            raise InputError(f"--where {condition!r} is not an SQL condition: {error}") from error
        kept.append(Table(spec=table.spec, rows=[table.rows[row] for (row,) in rows]))
    if len(whole) == len(tables):
        why = _why_unfit(connection, tables, condition) or problem
        raise InputError(f"--where {condition!r} fits no table: {why}", todo="use columns of one of the tables shown")
    return tuple(kept), whole


def _why_unfit(connection: Any, tables: Iterable[Table], condition: str) -> str:
    """Which tables have the columns of a condition that no table satisfies; empty when the columns are not to blame."""
    wanted = sorted(set(_columns_in(_parsed(connection, _selecting(condition)))))
    holders = {name: [table.name for table in tables if name in map(str.lower, table.column_names)] for name in wanted}
    if unknown := [name for name, names in holders.items() if not names]:
        return f"none has a column {' or '.join(unknown)}"
    if not holders or set.intersection(*map(set, holders.values())):
        return ""
    return "none has all of its columns (" + "; ".join(f"{name}: {', '.join(at)}" for name, at in holders.items()) + ")"


def _is_condition(connection: Any, condition: str) -> bool:
    """Whether a text is one condition over the row at hand and nothing more."""
    try:
        return _tables_of(connection, _selecting(condition)) == {("", "candidate")}
    except InputError:
        return False


def _selecting(condition: str) -> str:
    return f"SELECT 1 FROM candidate WHERE ({condition})"


def describe_tables(run: Run) -> Result:
    """What can be queried: a row per table and column."""
    rows: list[tuple[Cell, ...]] = []
    stored = _stored_names(run)
    for name in [*stored, TIMELINE]:
        schema = TABLES.get(name)
        holders = [rank for rank in run.ranks if name in rank.table_names]
        count = sum(rank.rows(name) for rank in holders)
        if schema is not None:
            rows.extend((name, column.name, column.help, count) for column in schema.columns)
        elif holders:
            rows.extend(
                (name, column, "as the source gives it", count) for column in holders[0].table(name).column_names
            )
        else:
            rows.append((name, "*", "slices joined with lanes and tracks", sum(r.rows("slices") for r in run.ranks)))
    for name in table_names():
        leaf = table_owner(name)
        assert leaf is not None
        spec = next(spec for spec in leaf.tables if spec.name == name)
        shown = f"{ANALYSIS_SCHEMA}.{name}" if name in stored else name
        rows.extend((shown, column.name, column.help, None) for column in spec.columns)
    spec = TableSpec(
        name="tables",
        title="Tables for SQL",
        help="Every table of the store has a rank column as well.",
        columns=(
            Column(name="table", unit="text", help="table"),
            Column(name="column", unit="text", help="column"),
            Column(name="meaning", unit="text", help="what it holds"),
            Column(name="rows", unit="count", help="rows over all ranks; empty for tables that are computed"),
        ),
    )
    return Result(tables=(spec.table(rows),))


def _connect() -> Any:
    """A database in memory that can reach nothing else: no files, no Python variables, no settings.

    What does not fit into memory goes to a temporary folder; without one, DuckDB would take the current folder and fill
    its disk.
    """
    spill = Path(tempfile.gettempdir()) / f"trainwright-{os.getpid()}"
    connection = duckdb.connect(config={"temp_directory": str(spill), "max_temp_directory_size": MOST_SPILLED})
    for setting in (
        "python_enable_replacements = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _tables_of(connection: Any, query: str) -> set[tuple[str, str]]:
    """The (schema, table) names in a query; refuses what is not exactly one SELECT.

    The names come from the parse tree: binding the query would need the tables that are still to be made.
    """
    return set(_names_in(_parsed(connection, query)))


def _parsed(connection: Any, query: str) -> Any:
    ((text,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchall()
    tree = json.loads(text)
    if tree["error"] and tree["error_type"] == "parser":
        raise InputError(f"this is not SQL that can be read: {tree['error_message']}", todo="correct the query")
    if tree["error"] or len(tree["statements"]) != 1:
        raise InputError(
            "only one SELECT statement can be run", allowed="SELECT ... FROM ...", todo="correct the query"
        )
    return tree


def _columns_in(node: object) -> Iterator[str]:
    """The columns named in a parse tree, in lower case, without what stands before them."""
    if isinstance(node, dict):
        if node.get("type") == "COLUMN_REF":
            yield node["column_names"][-1].lower()
        yield from (name for value in node.values() for name in _columns_in(value))
    elif isinstance(node, list):
        yield from (name for value in node for name in _columns_in(value))


def _names_in(node: object) -> Iterator[tuple[str, str]]:
    """The (schema, table) of every table named in a parse tree."""
    if isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            yield node["schema_name"], node["table_name"]
        yield from (name for value in node.values() for name in _names_in(value))
    elif isinstance(node, list):
        yield from (name for value in node for name in _names_in(value))


def _stored_names(run: Run) -> list[str]:
    return sorted({name for rank in run.ranks for name in rank.table_names} | set(TABLES))


def _create_stored(connection: Any, run: Run, name: str) -> None:
    """A view of a stored table over all ranks that have it."""
    selects = []
    for rank in run.ranks:
        if name in TABLES or name in rank.table_names:
            source = f"_stored_{name}_{rank.rank}"
            connection.register(
                source, _with_operators(rank) if name == "collectives" else _with_row_number(rank, name)
            )
            selects.append(f'SELECT {rank.rank} AS rank, * FROM "{source}"')
    connection.execute(f'CREATE VIEW "{name}" AS ' + " UNION ALL BY NAME ".join(selects))


def _with_row_number(rank: RankStore, name: str) -> pa.Table:
    table = rank.table(name)
    if name not in _ROW_NUMBERS:
        return table
    return table.append_column(_ROW_NUMBERS[name], pa.array(np.arange(table.num_rows, dtype=np.int32)))


def _with_operators(rank: RankStore) -> pa.Table:
    """The table `collectives` with the operators that all analyses go by: those asked for, where the name is vague."""
    table, ops = rank.table("collectives"), comm_ops(rank)
    named: list[str | None] = table.column("op").to_pylist()
    rows = detail_rows(rank, "collectives")[ops.rows].tolist()
    for row, op in zip(rows, ops.op.at(ops.op.codes), strict=True):
        if row >= 0:
            named[row] = op
    return table.set_column(table.column_names.index("op"), "op", pa.array(named, pa.string()))


def _create_analysed(connection: Any, table: Table, *, plain: bool) -> None:
    """A table of an analysis in its schema, and under its plain name where that is free."""
    source = f"_analysis_{table.name}"
    connection.register(source, _to_arrow(table).drop(["_row"]))
    for name in (f'{ANALYSIS_SCHEMA}."{table.name}"', *([f'"{table.name}"'] if plain else [])):
        connection.execute(f'CREATE VIEW {name} AS SELECT * FROM "{source}"')


def _to_arrow(table: Table) -> pa.Table:
    """A result table in Arrow, with its row numbers as ``_row``."""
    types = {
        "text": pa.string(),
        "share": pa.float64(),
        "GB/s": pa.float64(),
        "ratio": pa.float64(),
        "number": pa.float64(),
    }
    columns = {
        column.name: _array(table.column(column.name), types.get(column.unit, pa.int64()))
        for column in table.spec.columns
    }
    return pa.table({**columns, "_row": pa.array(range(len(table.rows)), pa.int64())})


def _array(cells: list[Cell], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(cells, kind)
    except UnicodeEncodeError:  # a file name that is not UTF-8
        return pa.array([encodable(cell) if isinstance(cell, str) else cell for cell in cells], kind)


def _as_table(answer: pa.Table) -> Table:
    columns = tuple(
        Column(name=name, unit=_unit(name, kind), help="")
        for name, kind in zip(_unique(answer.column_names), answer.schema.types, strict=True)
    )
    spec = TableSpec(name="result", title="Result", help="", columns=columns)
    return spec.table(zip(*(map(_cell, column.to_pylist()) for column in answer.columns), strict=True))


def _unique(names: Sequence[str]) -> list[str]:
    """Column names without repeats: a repeated one gets a number."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return unique


def _unit(name: str, kind: pa.DataType) -> Unit:
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return next((unit for suffix, unit in _UNIT_BY_SUFFIX if name.endswith(suffix)), "id")
    return "number" if pa.types.is_floating(kind) else "text"


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    number = getattr(value, "as_integer_ratio", None)  # sums come back as Decimal
    if number is not None:
        top, bottom = number()
        return int(top) if bottom == 1 else float(top / bottom)
    return str(value)
