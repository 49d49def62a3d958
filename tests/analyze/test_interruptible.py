"""Queries on a thread of their own."""

from __future__ import annotations

import os
import signal
import threading

import duckdb
import pytest

from trainwright.analyze.interruptible import interruptible

#: Several shapes: whether DuckDB hears a signal by itself depends on them, and on chance.
QUERIES = (
    "SELECT count(*) FROM range(1000000000000) WHERE range % 7 = 3",
    "SELECT count(*) FROM range(3000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3",
)


@pytest.mark.parametrize("query", QUERIES)
def test_ctrl_c_ends_a_query(query: str) -> None:
    connection = duckdb.connect()
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(connection, lambda: connection.sql(query).fetchall())
    timer.join()


def test_values_and_errors_come_through() -> None:
    connection = duckdb.connect()
    assert interruptible(connection, lambda: connection.sql("SELECT 1").fetchall()) == [(1,)]
    with pytest.raises(duckdb.Error):
        interruptible(connection, lambda: connection.sql("SELECT * FROM nothing").fetchall())
