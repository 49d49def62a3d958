"""Memory tables of an Ascend rank: samples of totals, and single allocations with the time of their release."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright.trace.ascend_names import memory_device, module_component
from trainwright.trace.csvtext import CsvTable
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]


def pour_samples(table: CsvTable, sink: Sink, *, modules: bool) -> None:
    """Pour totals over time; `modules` says that the components are modules of CANN, not of the framework."""
    ts, known = table.ns("Timestamp")
    component = table.text("Component")
    columns: dict[str, Any] = {
        "ts_ns": ts,
        "device": _renamed(table.text("Device Type", "Device"), memory_device),
        "component": _renamed(component, module_component) if modules else component,
        "allocated_bytes": table.sizes("Total Allocated"),
        "reserved_bytes": table.sizes("Total Reserved"),
        "active_bytes": table.sizes("Total Active"),
    }
    _add(sink, "memory_usage", columns, np.flatnonzero(known))
    sink.used("memory_usage", table.path)


def pour_allocations(table: CsvTable, sink: Sink) -> None:
    """Pour allocations; one that was made before the profile started is poured as its release."""
    allocated, has_start = table.ns("Allocation Time")
    released, has_end = table.ns("Release Time")
    size = table.sizes("Size", unit="KB")
    only_end = has_end & ~has_start
    totals = {
        name: np.where(has_start, table.sizes(f"Allocation {total}"), table.sizes(f"Release {total}"))
        for name, total in (("allocated_bytes", "Total Allocated"), ("reserved_bytes", "Total Reserved"))
    }
    rows = np.flatnonzero((has_start | has_end) & (size >= 0))
    columns: dict[str, Any] = {
        "ts_ns": np.where(has_start, allocated, released),
        "device": _renamed(table.text("Device Type"), memory_device),
        "bytes": np.where(only_end, -size, size),
        "release_ns": np.where(has_start & has_end, released, -1),
        "op": table.text("Name"),
        **totals,
    }
    if len(rows):
        first = sink.events(len(rows))
        columns["event"] = np.full(table.rows, -1, np.int64)
        columns["event"][rows] = np.arange(first, first + len(rows))
    _add(sink, "memory_events", columns, rows)
    sink.used("memory_events", table.path)


def _add(sink: Sink, table: str, columns: dict[str, Any], rows: I64) -> None:
    """Add some rows of the columns."""
    if len(rows):
        sink.add(
            table,
            **{
                name: column[rows] if isinstance(column, np.ndarray) else column.take(pa.array(rows))
                for name, column in columns.items()
            },
        )


def _renamed(texts: pa.Array, rename: Any) -> pa.Array:
    """The column with each distinct text renamed."""
    encoded = pc.dictionary_encode(texts)
    words = pa.array([rename(word) for word in encoded.dictionary.to_pylist()], pa.string())
    return words.take(encoded.indices)
