"""What the names of a Kineto trace mean: categories of 2021 to 2026, CUDA, ROCm, MTIA, XPU and CPU only."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright.trace.chrome import Dialect, TrackPlace
from trainwright.trace.collective_names import (
    MOST_MESSAGE_BYTES,
    element_bytes,
    is_collective_kernel,
    is_host_collective,
    parse_collective,
)
from trainwright.trace.reader import Sink
from trainwright.trace.schema import DEVICE_KINDS

#: Kind by category, lower case. 2021 wrote ``Operator`` and ``Kernel``.
_KIND_OF_CATEGORY = {
    "cpu_op": "op", "operator": "op", "user_annotation": "annotation", "gpu_user_annotation": "device_annotation",
    "cuda_runtime": "runtime", "cuda_driver": "runtime", "runtime": "runtime", "mtia_runtime": "runtime",
    "xpu_runtime": "runtime", "xpu_driver": "runtime", "hpu_runtime": "runtime", "privateuse1_runtime": "runtime",
    "privateuse1_driver": "runtime", "kernel": "kernel", "mtia_ccp_events": "kernel", "hpu_op": "kernel",
    "xpu_kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset",
    "cuda_sync": "sync", "python_function": "python", "pythonfunction": "python", "overhead": "overhead",
    "trace": "derived", "cuda_profiler_range": "derived",
}  # fmt: skip

_GC = re.compile(r"^gc[.: ]?collect|^garbage[ _]collect", re.IGNORECASE)
_STEP = re.compile(r"^ProfilerStep\s*#?\s*\d+$")
_DATALOADER = re.compile(r"^enumerate\(DataLoader\)|DataLoader.*__next__|^data[._ ]?load(?:er|ing)", re.IGNORECASE)

_DEVICE_TYPES = {0: "cpu", 1: "cuda", 6: "hip", 9: "xla", 12: "xpu", 18: "hpu", 20: "npu", 19: "mtia"}

_ARGUMENTS = {
    "External id": "BIGINT", "correlation": "BIGINT", "stream": "BIGINT", "device": "INTEGER", "bytes": "BIGINT",
    "grid": "VARCHAR", "Sequence number": "BIGINT", "Fwd thread id": "BIGINT", "Input Dims": "VARCHAR",
    "Input type": "VARCHAR", "Call stack": "VARCHAR", "Module Hierarchy": "VARCHAR", "Addr": "BIGINT",
    "Byte$": "BIGINT", "Device Type": "INTEGER", "Device Id": "INTEGER", "Total Allocated": "BIGINT",
    "Total Reserved": "BIGINT", "Collective name": "VARCHAR", "In msg nelems": "BIGINT", "Out msg nelems": "BIGINT",
    "Group size": "INTEGER", "dtype": "VARCHAR", "Process Group Name": "VARCHAR", "Seq": "BIGINT",
}  # fmt: skip

#: ``external id`` is the 2021 spelling; ``Bytes`` (memory instants) differs from ``bytes`` (copies) only in case.
_RENAMES = ((b'"external id":', b'"External id":'), (b'"Bytes":', b'"Byte$":'))


def kind_of(_process: str, _thread: str, cat: str, name: str) -> str:
    """The kind of a slice by its category and name."""
    kind = _KIND_OF_CATEGORY.get(cat.lower(), "other")
    if kind in ("op", "annotation"):
        if _STEP.match(name):
            return "step"
        if _DATALOADER.search(name):
            return "dataloader"
        if is_host_collective(name):
            return "comm"
        if _GC.search(name):
            return "gc"
    if kind == "kernel" and is_collective_kernel(name):
        return "comm"
    if kind == "python" and name.startswith("<built-in function collect>"):
        return "gc"
    return kind


def place(_process: str, _thread: str, pid: str, tid: str, kind: str) -> TrackPlace:
    """Device tracks have the device as process and the stream as thread (2021: ``stream 7``)."""
    if kind not in DEVICE_KINDS or not (pid.lstrip("-").isdecimal() and len(pid) <= 4):
        return TrackPlace()
    stream = tid.removeprefix("stream").strip()
    return TrackPlace(
        side="device", stream=int(stream) if stream.isdecimal() and len(stream) < 19 else -1, device=int(pid)
    )


def pour_details(table: pa.Table, sink: Sink) -> None:
    """Rows of ops, kernels and collectives for a batch of slices."""
    kind = table["kind"].combine_chunks()
    texts = kind.dictionary.to_pylist()
    codes = kind.indices.to_numpy()
    _pour_ops(_of_kinds(table, codes, texts, ("op", "annotation")), sink)
    _pour_kernels(_of_kinds(table, codes, texts, ("kernel", "memcpy", "memset", "comm", "sync")), sink)
    _pour_collectives(_of_kinds(table, codes, texts, ("comm",)), sink)


def _of_kinds(table: pa.Table, codes: npt.NDArray[np.int32], texts: list[str], kinds: tuple[str, ...]) -> pa.Table:
    wanted = np.array([text in kinds for text in texts])[codes]
    return table if wanted.all() else table.filter(pa.array(wanted))


def _filled(table: pa.Table, name: str, default: int = -1) -> npt.NDArray[Any]:
    return np.asarray(table[name].combine_chunks().fill_null(default).to_numpy())


def _pour_ops(table: pa.Table, sink: Sink) -> None:
    known = pc.or_(pc.is_valid(table["External id"]), pc.is_valid(table["Input Dims"]))
    known = pc.or_(known, pc.or_(pc.is_valid(table["Call stack"]), pc.is_valid(table["Sequence number"])))
    table = table.filter(known)
    if table.num_rows:
        sink.add(
            "ops", event=_filled(table, "event"), external_id=_filled(table, "External id"),
            sequence=_filled(table, "Sequence number"), fwd_thread=_filled(table, "Fwd thread id", 0),
            shapes=table["Input Dims"], dtypes=table["Input type"], stack=table["Call stack"],
            module=table["Module Hierarchy"],
        )  # fmt: skip


def _pour_kernels(table: pa.Table, sink: Sink) -> None:
    table = table.filter(pc.or_(pc.is_valid(table["stream"]), pc.is_valid(table["correlation"])))
    if table.num_rows:
        sink.add(
            "kernels", event=_filled(table, "event"), stream=_filled(table, "stream"), device=_filled(table, "device"),
            external_id=_filled(table, "External id"), core_type="GPU", blocks=_blocks(table["grid"]),
            bytes=_filled(table, "bytes"),
        )  # fmt: skip


def _blocks(grid: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Blocks of a launch out of its grid ``[x, y, z]``, -1 where there is none."""
    encoded = grid.combine_chunks().dictionary_encode()
    sizes = []
    for text in encoded.dictionary.to_pylist():
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        product = int(np.prod(numbers, dtype=np.float64)) if numbers else -1
        sizes.append(product if product < 2**31 else -1)
    return np.asarray(np.array([*sizes, -1], np.int64)[encoded.indices.fill_null(len(sizes)).to_numpy()])


def _pour_collectives(table: pa.Table, sink: Sink) -> None:
    rows: dict[str, list[Any]] = {
        key: [] for key in ("event", "group", "seq", "op", "dtype", "bytes", "group_size", "algorithm")
    }
    columns = (
        "event", "name", "Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size",
        "Process Group Name", "Seq",
    )  # fmt: skip
    for row in table.select(columns).to_pylist():
        parsed = parse_collective(row["name"] or "")
        named = parse_collective(row["Collective name"] or "")
        elements = max(row["In msg nelems"] or 0, row["Out msg nelems"] or 0)
        size = elements * element_bytes(row["dtype"])
        if size > MOST_MESSAGE_BYTES:
            sink.quality("absurd-size", example=f"{row['name']}: {elements:,} elements, taken as not recorded")
            size = 0
        rows["event"].append(row["event"])
        rows["group"].append(row["Process Group Name"])
        rows["seq"].append(-1 if row["Seq"] is None else row["Seq"])
        rows["op"].append(named.op or parsed.op or None)
        rows["dtype"].append(row["dtype"])
        rows["bytes"].append(size if size > 0 else -1)
        rows["group_size"].append(-1 if row["Group size"] is None else row["Group size"])
        rows["algorithm"].append(parsed.algorithm or None)
    if rows["event"]:
        sink.add("collectives", **rows)


def pour_instants(table: pa.Table, sink: Sink) -> npt.NDArray[np.bool_]:
    """Take the allocator's ``[memory]`` instants."""
    taken = np.asarray(pc.equal(table["name"], "[memory]").fill_null(False).to_numpy())
    rows = table.filter(pa.array(taken))
    if rows.num_rows:
        types, numbers = rows["Device Type"].to_pylist(), rows["Device Id"].to_pylist()
        device = [
            _DEVICE_TYPES.get(kind, f"device{kind}") + ("" if number is None or number < 0 else f":{number}")
            for kind, number in zip(types, numbers, strict=True)
        ]
        sink.add(
            "memory_events", event=_filled(rows, "event"), ts_ns=_filled(rows, "ts_ns"), device=device,
            address=_filled(rows, "Addr"), bytes=_filled(rows, "Byte$", 0),
            allocated_bytes=_filled(rows, "Total Allocated"), reserved_bytes=_filled(rows, "Total Reserved"),
        )  # fmt: skip
    return taken


KINETO = Dialect(
    arguments=_ARGUMENTS,
    renames=_RENAMES,
    kind_of=kind_of,
    place=place,
    link="correlation",
    details=pour_details,
    instants=pour_instants,
)
