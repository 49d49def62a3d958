"""Keep an array of Chrome trace events as a plain table, where another file of the run already gave its slices."""

from __future__ import annotations

from pathlib import Path

from trainwright.trace.event_damage import report_end
from trainwright.trace.json_events import EventFile
from trainwright.trace.reader import Sink

COLUMNS = ("ph", "cat", "name", "pid", "tid", "id", "ts_ns", "dur_ns")


def pour_event_table(path: Path, name: str, sink: Sink) -> None:
    """Pour the events of a file as ``reported_<name>``; nothing of it becomes a slice.

    Raises:
        InputError: the file holds no event array.
    """
    events = EventFile(path, arguments={})
    for batch, done, total in events.batches():
        sink.events(batch.table.num_rows)
        sink.reported(name, {key: batch.table[key].combine_chunks() for key in COLUMNS}, file=path)
        sink.progress(done, total)
    sink.repaired(len(events.damage.repaired))
    if events.damage.lost:
        sink.lost(len(events.damage.lost))
        first = events.damage.lost[0]
        sink.quality("lost-events", count=len(events.damage.lost), example=first.reason, file=path, offset=first.offset)
    report_end(events, sink)
