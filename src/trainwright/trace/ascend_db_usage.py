"""Memory and sampled values in an Ascend database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.trace.ascend_db_tables import AscendDb, is_one_of
from trainwright.trace.ascend_names import module_component
from trainwright.trace.sqlite_cells import Batch

I64 = npt.NDArray[np.int64]

_ALLOCATION = (
    "name", "size", "allocationTime", "releaseTime", "allocationTotalAllocated", "allocationTotalReserved",
    "releaseTotalAllocated", "releaseTotalReserved", "deviceId",
)  # fmt: skip
_OPERATOR_MEMORY = (
    "operatorName", "addr", "type", "size", "timestampNs", "totalAllocate", "totalReserve", "deviceId",
)  # fmt: skip
_RECORD = ("component", "timestampNs", "totalAllocated", "totalReserved", "totalActive", "deviceId")


@dataclass(frozen=True, kw_only=True)
class _Counter:
    """A table of sampled values.

    Attributes:
        process: label of the row.
        name: name of a value; columns in braces stand for their number, or their text where they are among `texts`.
        series: unit by the column that holds it, which `name` may use as ``{column}``; empty: every other column.
        texts: columns of string ids.
    """

    process: str
    name: str = "{column}"
    series: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


_COUNTERS = {
    "AICORE_FREQ": _Counter(process="AI Core Freq", series={"freq": ("AI Core Freq", "MHz")}),
    "HBM": _Counter(
        process="HBM", name="HBM {hbmId}/{type}", series={"bandwidth": ("", "B/s")}, texts=("type",), numbers=("hbmId",)
    ),
    "LLC": _Counter(
        process="LLC", name="LLC {llcId} {mode}/{column}", texts=("mode",), numbers=("llcId",),
        series={"hitRate": ("Hit Rate", "%"), "throughput": ("Throughput", "B/s")},
    ),
    "DDR": _Counter(process="DDR", name="DDR/{column}", series={"read": ("Read", "B/s"), "write": ("Write", "B/s")}),
    "NPU_MEM": _Counter(
        process="NPU MEM", name="{type}/{column}", series={"ddr": ("DDR", "B"), "hbm": ("HBM", "B")}, texts=("type",)
    ),
    "SOC_BANDWIDTH_LEVEL": _Counter(
        process="Stars Soc Info",
        series={"l2BufferBwLevel": ("L2 Buffer Bw Level", "level"), "mataBwLevel": ("Mata Bw Level", "level")},
    ),
    "ACC_PMU": _Counter(process="Acc PMU", name="Accelerator {accId}/{column}", numbers=("accId",)),
    "QOS": _Counter(
        process="QoS", name="QoS {eventName}", series={"bandwidth": ("", "B/s")}, texts=("eventName",)
    ),
    "HCCS": _Counter(process="HCCS", name="HCCS/{column}"),
    "PCIE": _Counter(process="PCIe", name="PCIe/{column}"),
    "NIC": _Counter(process="NIC", name="Port {funcId}/{column}", numbers=("funcId",)),
    "ROCE": _Counter(process="RoCE", name="Port {funcId}/{column}", numbers=("funcId",)),
    "NETDEV_STATS": _Counter(process="NetDev Stats"),
    "SAMPLE_PMU_TIMELINE": _Counter(
        process="Sample PMU", name="{coreType} Core {coreId}/{column}", texts=("coreType",), numbers=("coreId",)
    ),
    "CPU_USAGE": _Counter(process="CPU Usage", name="CPU {cpuId}", numbers=("cpuId",), series={"usage": ("", "%")}),
    "HOST_MEM_USAGE": _Counter(process="Memory Usage"),
    "HOST_DISK_USAGE": _Counter(process="Disk Usage"),
    "HOST_NETWORK_USAGE": _Counter(process="Network Usage"),
}  # fmt: skip
COUNTER_TABLES = tuple(_COUNTERS)
MEMORY_TABLES = ("MEMORY_RECORD", "NPU_MODULE_MEM", "OP_MEMORY", "NPU_OP_MEM")


def pour_counters(db: AscendDb) -> None:
    """Pour every table of sampled values. Values stay in the unit of the database (bytes, where text has MB or KB)."""
    for table, counter in _COUNTERS.items():
        found = db.database.find(table)
        if found is None:
            continue
        fixed = {"deviceid", "timestampns", *(name.lower() for name in (*counter.texts, *counter.numbers))}
        others = [name for name in found.columns if name.lower() not in fixed]
        values = dict(counter.series) or {name: (name, "value") for name in others}
        for batch in db.batches(table, ("deviceId", "timestampNs", *counter.texts, *counter.numbers, *values)):
            batch, time = db.stamps(batch)  # noqa: PLW2901
            device = batch.ints("deviceId")
            for column, (label, unit) in values.items():
                _pour_values(db, batch, time, device, counter, column, label, unit)
        db.sink.used("counters", db.path)


def _pour_values(
    db: AscendDb, batch: Batch, time: I64, device: I64, counter: _Counter, column: str, label: str, unit: str
) -> None:
    """Pour one column of a table."""
    value = batch.floats(column)
    known = np.isfinite(value)
    names, at = _names(db, batch, counter, label)
    devices, on = np.unique(device, return_inverse=True)
    tracks = [
        db.sink.track(process=counter.process, thread="", pid=f"{counter.process} {number}", side="host")
        for number in devices.tolist()
    ]
    rows = np.flatnonzero(known)
    first = db.sink.events(len(rows))
    db.sink.add(
        "counters", event=np.arange(first, first + len(rows)), track=np.array(tracks, np.int32)[on.reshape(-1)[rows]],
        ts_ns=time[rows], series=unit, value=value[rows],
        name=pa.DictionaryArray.from_arrays(pa.array(at[rows].astype(np.int32)), pa.array(names, pa.string())),
    )  # fmt: skip


def _names(db: AscendDb, batch: Batch, counter: _Counter, label: str) -> tuple[list[str], I64]:
    """Distinct names of the values of a column, and which each row has, (rows,)."""
    words: dict[str, list[str]] = {}
    code = np.zeros(batch.rows, np.int64)
    for name in (*counter.texts, *counter.numbers):
        words[name], at = _words(db, batch, name, is_text=name in counter.texts)
        code = code * max(len(words[name]), 1) + at
    distinct, at = np.unique(code, return_inverse=True)
    names = []
    for number in distinct.tolist():
        fields = {"column": label}
        for name, known in reversed(words.items()):
            number, which = divmod(number, max(len(known), 1))  # noqa: PLW2901
            fields[name] = known[which]
        names.append(counter.name.format(**fields))
    return names, at.reshape(-1)


def _words(db: AscendDb, batch: Batch, name: str, *, is_text: bool) -> tuple[list[str], I64]:
    """Distinct words of a column, and which each row has, (rows,)."""
    if not is_text:
        numbers, at = np.unique(batch.ints(name), return_inverse=True)
        return [str(number) for number in numbers.tolist()], at.reshape(-1)
    texts = db.texts(batch, name)
    words = [_title(word or "") for word in texts.dictionary.to_pylist()]
    return [*words, ""], np.asarray(texts.indices.fill_null(len(words)).to_numpy(zero_copy_only=False), np.int64)


def _title(word: str) -> str:
    """Words as the text form has them: ``Read`` for ``read``, ``APP`` for ``app``."""
    return "APP" if word == "app" else word[:1].upper() + word[1:]


def pour_memory(db: AscendDb) -> None:
    """Pour samples of totals and single allocations."""
    for batch in db.batches("MEMORY_RECORD", _RECORD):
        batch, time = db.stamps(batch)  # noqa: PLW2901
        _pour_samples(db, batch, time, db.texts(batch, "component"))
    for batch in db.batches("NPU_MODULE_MEM", ("moduleId", "timestampNs", "totalReserved", "deviceId")):
        batch, time = db.stamps(batch)  # noqa: PLW2901
        module = db.enum(batch, "moduleId", "ENUM_MODULE")
        words = [None if word is None else module_component(word) for word in module.dictionary.to_pylist()]
        components = pa.DictionaryArray.from_arrays(module.indices, pa.array(words, pa.string()))
        _pour_samples(db, batch, time, components)
    if db.has_rows("OP_MEMORY"):
        for batch in db.batches("OP_MEMORY", _ALLOCATION):
            _pour_allocations(db, batch)
    else:  # the framework's table has these rows too
        for batch in db.batches("NPU_OP_MEM", _OPERATOR_MEMORY):
            _pour_operator_memory(db, batch)


def _pour_samples(db: AscendDb, batch: Batch, time: I64, component: pa.DictionaryArray) -> None:
    db.sink.add(
        "memory_usage", ts_ns=time, device=_devices(batch), component=component,
        allocated_bytes=batch.ints("totalAllocated"), reserved_bytes=batch.ints("totalReserved"),
        active_bytes=batch.ints("totalActive"),
    )  # fmt: skip
    db.sink.used("memory_usage", db.path)


def _pour_allocations(db: AscendDb, batch: Batch) -> None:
    """``OP_MEMORY``; what was allocated before the profile started is poured as its release."""
    allocated, has_start = batch.numbers("allocationTime")
    released, has_end = batch.numbers("releaseTime")
    size, has_size = batch.numbers("size")
    rows = (has_start | has_end) & has_size & (size >= 0)
    totals = {
        name: np.where(has_start, batch.ints(f"allocation{total}"), batch.ints(f"release{total}"))
        for name, total in (("allocated_bytes", "TotalAllocated"), ("reserved_bytes", "TotalReserved"))
    }
    columns = {
        "ts_ns": np.where(has_start, allocated, released),
        "bytes": np.where(has_start, size, -size),
        "release_ns": np.where(has_start & has_end, released, -1),
        **totals,
    }
    _add_events(db, batch, rows, columns, db.texts(batch, "name"))


def _pour_operator_memory(db: AscendDb, batch: Batch) -> None:
    """``NPU_OP_MEM``: allocations and releases, each by itself."""
    batch, time = db.stamps(batch)
    size, rows = batch.numbers("size")
    releases = is_one_of(db.enum(batch, "type", "ENUM_MEMORY"), "release")
    columns = {
        "ts_ns": time,
        "bytes": np.where(releases, -np.abs(size), size),
        "address": batch.ints("addr"),
        "allocated_bytes": batch.ints("totalAllocate"),
        "reserved_bytes": batch.ints("totalReserve"),
    }
    _add_events(db, batch, rows, columns, db.texts(batch, "operatorName"))


def _add_events(
    db: AscendDb, batch: Batch, rows: npt.NDArray[np.bool_], columns: Mapping[str, I64], op: pa.DictionaryArray
) -> None:
    count = int(np.count_nonzero(rows))
    if count < batch.rows:
        db.trouble("bad-allocation", batch.rows - count, f"{batch.table}: row(s) without time or size left out")
    first = db.sink.events(count)
    db.sink.add(
        "memory_events", event=np.arange(first, first + count), device=_devices(batch).filter(pa.array(rows)),
        op=op.filter(pa.array(rows)), **{name: values[rows] for name, values in columns.items()},
    )  # fmt: skip
    db.sink.used("memory_events", db.path)


def _devices(batch: Batch) -> pa.DictionaryArray:
    """``npu:0`` for device 0, (rows,); null where a row names none."""
    distinct, at = np.unique(batch.ints("deviceId"), return_inverse=True)
    words = pa.array([f"npu:{number}" if number >= 0 else None for number in distinct.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(at.reshape(-1).astype(np.int32)), words)
