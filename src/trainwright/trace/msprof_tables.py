"""Pour the tables of msprof: as they are, as memory, as a description of the run, as operators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trainwright.trace.ascend_kernels import kernel_rows
from trainwright.trace.ascend_memory import pour_allocations, pour_samples
from trainwright.trace.ascend_operators import Operators, operators_of
from trainwright.trace.columns import TextPool
from trainwright.trace.csvtext import CsvTable, read_csv
from trainwright.trace.event_table import pour_event_table
from trainwright.trace.json_document import read_document
from trainwright.trace.msprof_layout import OPERATORS, OutputFile, is_event_array, read_description
from trainwright.trace.reader import RankSource, Sink
from trainwright.trace.reported_rows import document_rows, pour_rows

STEPS = "step_trace"
#: Tables whose rows are counted where they become, or describe, events.
_EVENTS = (OPERATORS, "operator_memory")
_SAMPLES = ("memory_record", "npu_module_mem")


def pour_table(file: OutputFile, source: RankSource, sink: Sink) -> CsvTable | None:
    """Pour one CSV file; the table where it says something of events (operators, steps), else None.

    Raises:
        InputError: the file cannot be read.
    """
    table = read_csv(file.path, sink)
    if file.kind not in _EVENTS:
        sink.events(table.rows)
    if source.wants("reported"):
        sink.reported(file.kind, table.whole(), file=file.path)
    if source.wants("memory"):
        if file.kind in _SAMPLES:
            pour_samples(table, sink, modules=file.kind == "npu_module_mem")
        elif file.kind == "operator_memory":
            pour_allocations(table, sink)
        elif file.kind == "npu_mem":
            _pour_device_memory(table, sink)
    return table if file.kind in (OPERATORS, STEPS) else None


def pour_document(file: OutputFile, sink: Sink) -> None:
    """Keep a JSON file as a table: a row per event, or what the document holds.

    Raises:
        InputError: the file cannot be read.
    """
    if is_event_array(file.path):
        pour_event_table(file.path, file.kind, sink)
    else:
        pour_rows(file.kind, document_rows(read_document(file.path)), sink, file.path)


def _pour_device_memory(table: CsvTable, sink: Sink) -> None:
    """Pour what the application and the whole device hold, as ``npu_mem_*.csv`` samples it."""
    ts, known = table.ns("timestamp")
    total = table.sizes("memory", unit="KB")
    rows = np.flatnonzero(known & (total >= 0))
    if not len(rows):
        return
    names, devices = table.text("event").to_pylist(), table.ints("Device_id").tolist()
    sink.add(
        "memory_usage", ts_ns=ts[rows], device=[f"npu:{max(devices[at], 0)}" for at in rows],
        component=[f"{names[at] or 'npu'} memory" for at in rows], reserved_bytes=total[rows],
    )  # fmt: skip
    sink.used("memory_usage", table.path)


def operators_in(tables: Sequence[CsvTable], names: TextPool) -> Operators | None:
    """The operators of all summaries; None where there is none."""
    if not tables:
        return None
    rows = kernel_rows(tables[0], names)
    for table in tables[1:]:
        rows = rows.and_also(kernel_rows(table, names))
    return operators_of(rows, names.texts(), tables[0].path)


def describe(paths: Sequence[Path], sink: Sink, *, meta: bool) -> None:
    """Say what the collection says of itself: host, process, clocks."""
    for path in paths:
        content = read_description(path)
        name = path.name.partition(".")[0]
        host = content.get("hostname")
        sink.describe(host=host if isinstance(host, str) and host else None)
        for key, value in content.items() if meta else ():
            sink.meta(f"msprof.{name}.{key}", value)
        offset = _epoch_offset(content.get("collectionTimeBegin"), content.get("clockMonotonicRaw"))
        if meta and offset is not None:
            sink.meta("clock.epoch_offset_ns", offset)


def _epoch_offset(epoch_us: object, monotonic_ns: object) -> int | None:
    """What to add to the monotonic clock, which old versions write, to get time since the epoch.

    Times stay as written: the two clocks are read one after the other, so ranks of a host would lose microseconds.
    """
    texts = [str(value) for value in (epoch_us, monotonic_ns)]
    if not all(text.isascii() and text.isdecimal() and len(text) < 19 for text in texts):
        return None
    return int(texts[0]) * 1000 - int(texts[1])
