"""Report what the decoder of an event array had to repair or give up."""

from __future__ import annotations

from trainwright.trace.json_events import EventFile
from trainwright.trace.reader import Sink


def report_damage(events: EventFile, sink: Sink) -> None:
    """Report every event of a file that was repaired or lost, and what is wrong with its end."""
    damage = events.damage
    for repaired in damage.repaired:
        sink.quality(
            f"repaired-{repaired.repair.replace(' ', '-').lower()}",
            example=repaired.text[:120].decode("utf-8", errors="replace"),
            file=events.path,
            offset=repaired.offset,
        )
    sink.repaired(len(damage.repaired))
    for lost in damage.lost:
        sink.quality(
            f"lost-{lost.reason.replace(' ', '-')}",
            example=lost.text[:120].decode("utf-8", errors="replace"),
            file=events.path,
            offset=lost.offset,
        )
    sink.lost(len(damage.lost))
    report_end(events, sink)


def report_end(events: EventFile, sink: Sink) -> None:
    """Report a file whose end is missing or damaged."""
    damage = events.damage
    if damage.stream:
        sink.quality(damage.stream_code, example=damage.stream, file=events.path)
    if damage.unended is not None:
        sink.quality(
            "unended-array",
            example="the event array does not end: the file was cut or is still being written",
            file=events.path,
            offset=damage.unended,
        )
