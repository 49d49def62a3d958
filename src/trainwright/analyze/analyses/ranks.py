"""What was read: the ranks with their device, host, number of events, and the files behind every table."""

from __future__ import annotations

from trainwright.analyze.analysis import Analysis
from trainwright.analyze.fields import RANK, count, ns, text
from trainwright.core.result import Result, TableSpec
from trainwright.trace.store import RankStore

RANKS = TableSpec(
    name="ranks",
    title="Ranks that were read",
    help="One row per rank. Lost events could not be read; repaired ones could, after mending.",
    columns=(
        RANK,
        text("device", "device model; cpu where the source shows no device"),
        text("host", "host name; empty where the source does not say"),
        count("events", "events read"),
        count("lost", "events that could not be read"),
        count("repaired", "damaged events that were mended"),
        text("source", "file that was read, or the files of each table where they differ"),
        ns("start_ns", "start of the first slice on the clock of the source"),
        ns("span_ns", "first start to last end"),
    ),
    shown=("rank", "device", "host", "events", "lost", "repaired", "span_ns", "source"),
)


def analyze(rank: RankStore) -> Result:
    """The row of the rank."""
    counts = (rank.manifest[key] for key in ("events", "lost", "repaired"))
    span = rank.end_ns - rank.start_ns
    row = (rank.rank, rank.device, rank.host or None, *counts, _source(rank), rank.start_ns, span)
    return Result(tables=(RANKS.table([row]),))


def _source(rank: RankStore) -> str:
    """``trace.json``, or ``memory_events: a.csv; slices: b.json, c.csv`` where tables come from different files."""
    used: dict[str, list[str]] = rank.manifest["used"]
    different = {tuple(files) for files in used.values()}
    if len(different) == 1:
        return ", ".join(different.pop())
    return "; ".join(f"{table}: {', '.join(files)}" for table, files in sorted(used.items())) or rank.unit.path.name


ANALYSIS = Analysis(
    code="ranks",
    summary="The ranks that were read: device, host, events, losses, sources.",
    scope="rank",
    tables=(RANKS,),
    order=5,
    per_rank=analyze,
)
