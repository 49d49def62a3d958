"""Pour one file of a MindInsight ``profiler`` folder, as slices or as a table."""

from __future__ import annotations

from trainwright.trace.bytestream import read_head
from trainwright.trace.csvtext import read_csv
from trainwright.trace.event_table import pour_event_table
from trainwright.trace.json_document import read_document
from trainwright.trace.mindinsight_names import HEADLESS, TIMELINES, ReportFile
from trainwright.trace.mindinsight_timeline import pour_step_trace, pour_timeline
from trainwright.trace.reader import Sink
from trainwright.trace.reported_rows import document_rows, pour_rows

MAX_TEXT_BYTES = 64 << 20


def pour_file(file: ReportFile, sink: Sink, *, as_events: bool) -> None:
    """Pour a file; `as_events` says that the rank's slices come from it, else it is kept as ``reported_<table>``.

    Raises:
        InputError: it cannot be read.
    """
    if file.kind in TIMELINES:
        if as_events:
            pour_timeline(file.path, sink)
        else:
            pour_event_table(file.path, file.table, sink)
    elif file.path.suffix == ".json":
        pour_rows(file.table, document_rows(read_document(file.path)), sink, file.path)
    elif file.kind in HEADLESS:
        _pour_numbers(file, sink)
    else:
        table = read_csv(file.path, sink)
        sink.events(table.rows)
        sink.reported(file.table, table.whole(), file=file.path)
        if as_events:
            pour_step_trace(table, sink)


def _pour_numbers(file: ReportFile, sink: Sink) -> None:
    """Lines of numbers without a head."""
    lines = read_head(file.path, MAX_TEXT_BYTES).decode("utf-8", "replace").splitlines()
    rows = [
        {f"column_{at + 1}": _number(cell) for at, cell in enumerate(line.split())} for line in lines if line.strip()
    ]
    pour_rows(file.table, rows, sink, file.path)


def _number(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 19 else text
