"""Tables of a few rows for tests whose expected values are worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.report.sample_page import column
from trainwright.core.result import Cell, Chart, Result, Table, TableSpec
from trainwright.report.renderer import Page

PARTS = TableSpec(
    name="parts",
    title="Parts",
    help="Two parts of a time.",
    columns=(column("rank", "id"), column("name", "text"), column("a_ns", "ns"), column("b_ns", "ns")),
    chart=Chart(kind="stacked", label=("rank",), values=("a_ns", "b_ns")),
)
SIZES = TableSpec(
    name="sizes",
    title="Sizes",
    help="One value a row.",
    columns=(column("name", "text"), column("bytes", "bytes")),
    chart=Chart(kind="bars", label=("name",), values=("bytes",)),
)


def parts(*rows: Sequence[Cell]) -> Table:
    """A table with a stacked chart: rank, name, a_ns, b_ns."""
    return PARTS.table(rows)


def sizes(rows: Iterable[Sequence[Cell]]) -> Table:
    """A table with a bar chart: name, bytes."""
    return SIZES.table(rows)


def page_of(*tables: Table, top: int | None = None) -> Page:
    """A page with nothing but tables."""
    return Page(command="test", title="Test", result=Result(tables=tables), top=top)
