"""Understand the Parquet traces of the what-if straggler analysis (ByteDance, OSDI 2025): workers, steps, operators.

One file holds one row per operator of many workers. A worker is the first tensor-parallel rank of a pipeline stage
and a data-parallel replica. Times are seconds, in most files counted from the start of their own step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright.core.errors import InputError, RefusedError
from trainwright.core.settings import max_input_bytes
from trainwright.trace.collective_names import parse_collective

I64 = npt.NDArray[np.int64]

MAGIC = b"PAR1"
REQUIRED = ("step", "optype", "start_ts", "duration")
#: What tells workers apart, as far as a file has it.
WORKER_COLUMNS = ("rank", "dp_rank", "stage", "tp_rank")
BATCH_ROWS = 1 << 20
MAX_WORKERS = 1 << 16
MAX_META_BYTES = 1 << 16
#: Steps that share this much of the shortest one's length are counted from their own start.
SHARED_PART = 0.5

_META_LINE = re.compile(r"^(\w+)\s*:\s*(\S.*?)\s*$", re.MULTILINE)
#: Operators whose name does not say what they are; `optimizer-clip-main-grad` is the all-reduce of the gradient norm.
_KINDS = {"gc": "gc", "data-load": "dataloader", "data-sync": "dataloader", "optimizer-inner-step": "kernel"}
_REDUCES_NORM = "optimizer-clip-main-grad"
_COMPUTE = re.compile(r"compute$|^optimizer$|^forward-backward$")
_NEXT_STAGE = ("forward-send", "backward-recv")
_PREVIOUS_STAGE = ("backward-send", "forward-recv")


@dataclass(frozen=True, kw_only=True)
class Operator:
    """What an operator type means. `row` is the kind of track it is drawn on; `op` is empty for what is no transfer."""

    kind: str
    row: str
    op: str = ""


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One worker: its global rank and its place; `columns` are the values that select its rows."""

    rank: int
    dp: int
    stage: int
    tp: int
    columns: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What holds for the whole file: workers in rank order, and the steps laid one after the other.

    `steps`, `start_ns`, `length_ns` (S,) describe the steps over all workers; `shift_ns` (S,) is what to add to the
    times of a step. `sequences` is one more than the highest sequence number, `meta` what the job file says.
    """

    workers: tuple[Worker, ...]
    steps: I64
    start_ns: I64
    length_ns: I64
    shift_ns: I64
    sequences: int
    meta: Mapping[str, Any]

    def rank_at(self, *, dp: int, stage: int, tp: int) -> int | None:
        """The rank of the worker at a place; None where the file has none."""
        return next((w.rank for w in self.workers if (w.dp, w.stage, w.tp) == (dp, stage, tp)), None)

    @property
    def stages(self) -> int:
        """Number of pipeline stages."""
        return 1 + max(worker.stage for worker in self.workers)


def is_parquet(path: Path) -> bool:
    """Whether the file starts as a Parquet file does."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def column_names(path: Path) -> list[str]:
    """The columns of a Parquet file.

    Raises:
        InputError: the file's table of contents cannot be read.
        RefusedError: it says that it unpacks to more than the limit.
    """
    with _open(path) as file:
        return list(file.schema_arrow.names)


def read_worker(path: Path, worker: Worker, columns: tuple[str, ...]) -> pa.Table:
    """The rows of one worker; ``optype`` as text.

    Raises:
        InputError: the rows cannot be read.
    """
    import pyarrow.parquet as pq

    filters = [(name, "=", value) for name, value in worker.columns.items()]
    try:
        table = pq.read_table(path, columns=list(columns), filters=filters or None, partitioning=None)
        at = table.schema.get_field_index("optype")
        return table.set_column(at, "optype", table["optype"].cast(pa.string()))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: its rows cannot be read: {error}", todo="write the file again") from error


def survey(path: Path, meta_path: Path | None) -> Survey:
    """The workers and steps of a file; remembered until the file changes.

    Raises:
        InputError: the file cannot be read, or a number in it makes no sense.
    """
    status = path.stat()
    return _survey(path, meta_path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=8)
def _survey(path: Path, meta_path: Path | None, _size: int, _changed: int) -> Survey:
    with _open(path) as file:
        return _survey_rows(file, path, read_meta(meta_path))


def _survey_rows(file: Any, path: Path, meta: dict[str, Any]) -> Survey:
    present = [name for name in WORKER_COLUMNS if name in file.schema_arrow.names]
    wanted = [*present, "step", "start_ts", "duration"] + ["seq_id"] * ("seq_id" in file.schema_arrow.names)
    workers: set[tuple[int, ...]] = set()
    extents: dict[int, tuple[int, int]] = {}
    sequences = 1
    try:
        for batch in file.iter_batches(BATCH_ROWS, columns=wanted):
            table = pa.table(batch)
            workers.update(_distinct(table, present))
            _widen(extents, table)
            if "seq_id" in wanted:
                sequences = max(sequences, 1 + int(whole(table["seq_id"]).max(initial=0)))
            if len(workers) > MAX_WORKERS:
                raise InputError(f"{path} names more than {MAX_WORKERS:,} workers", todo="check the file")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}", todo="write the file again") from error
    if not extents:
        raise InputError(f"{path} holds no operator with a time", todo="check the file")
    steps = np.array(sorted(extents), np.int64)
    first = np.array([extents[step][0] for step in steps.tolist()], np.int64)
    last = np.array([extents[step][1] for step in steps.tolist()], np.int64)
    shift = _shift(first, last)
    return Survey(
        workers=_number(workers, present, meta), steps=steps, start_ns=first + shift, length_ns=last - first,
        shift_ns=shift, sequences=sequences, meta=meta,
    )  # fmt: skip


def _open(path: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        unpacked = sum(file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} is not a readable Parquet file: {error}", todo="write the file again") from error
    if unpacked > max_input_bytes():
        raise RefusedError(
            f"{path} unpacks to {unpacked:,} bytes",
            allowed=f"{max_input_bytes():,} bytes",
            todo="set TRAINWRIGHT_MAX_BYTES higher if you trust the file",
        )
    return file


def _distinct(table: pa.Table, names: list[str]) -> set[tuple[int, ...]]:
    if not names:
        return {()}
    rows = np.unique(np.stack([whole(table[name]) for name in names], axis=1), axis=0)
    return {tuple(row) for row in rows.tolist()}


def _widen(extents: dict[int, tuple[int, int]], table: pa.Table) -> None:
    """Take the rows of a batch into the first start and last end of every step."""
    start, dur = seconds(table["start_ts"]), seconds(table["duration"])
    use = start[1] & dur[1]
    step, begin, end = whole(table["step"])[use], start[0][use], (start[0] + dur[0])[use]
    for number in np.unique(step).tolist():
        mine = step == number
        known = extents.get(number, (int(begin[mine].min()), int(end[mine].max())))
        extents[number] = (min(known[0], int(begin[mine].min())), max(known[1], int(end[mine].max())))


def _shift(first: I64, last: I64) -> I64:
    """What to add to the times of each step: nothing, or where steps start over, so that one follows the other."""
    length = last - first
    shared = int(last.min()) - int(first.max())
    if len(first) < 2 or shared <= SHARED_PART * int(length.min()):
        return np.zeros(len(first), np.int64)
    return np.asarray(np.cumsum(length) - length - first)


def _number(found: set[tuple[int, ...]], names: list[str], meta: Mapping[str, Any]) -> tuple[Worker, ...]:
    """Workers with their ranks: recorded, else tp + tp_size * (dp + dp_size * stage), the order of Megatron."""
    rows = [dict(zip(names, values, strict=True)) for values in sorted(found)]
    sizes = {}
    for name, size in (("tp_rank", "tp_size"), ("dp_rank", "dp_size")):
        given = meta.get(size)
        most = 1 + max((row.get(name, 0) for row in rows), default=0)
        sizes[name] = max(given, most) if isinstance(given, int) else most
    workers = []
    for row in rows:
        dp, stage, tp = (row.get(name, 0) for name in ("dp_rank", "stage", "tp_rank"))
        rank = row.get("rank", tp + sizes["tp_rank"] * (dp + sizes["dp_rank"] * stage))
        workers.append(Worker(rank=rank, dp=dp, stage=stage, tp=tp, columns=row))
    return tuple(sorted(workers, key=lambda worker: (worker.rank, worker.stage, worker.dp, worker.tp)))


def read_meta(path: Path | None) -> dict[str, Any]:
    """The job's ``key: value`` lines: sizes of the parallel groups and a name; nothing without a file."""
    if path is None:
        return {}
    with path.open("rb") as file:
        text = file.read(MAX_META_BYTES).decode("utf-8", "replace")
    return {key: int(value) if re.fullmatch(r"\d{1,9}", value) else value for key, value in _META_LINE.findall(text)}


def operator(name: str) -> Operator:
    """What an operator type means."""
    if name in _KINDS:
        kind = _KINDS[name]
        return Operator(kind=kind, row="compute" if kind == "kernel" else "host")
    if name == _REDUCES_NORM:
        return Operator(kind="comm", row="dp-comm", op="allreduce")
    if _COMPUTE.search(name):
        return Operator(kind="kernel", row="compute")
    if "send" in name or "recv" in name:
        both = "send" in name and "recv" in name
        return Operator(kind="comm", row="pp-comm", op="sendrecv" if both else parse_collective(name).op)
    op = parse_collective(name).op
    if not op:
        return Operator(kind="other", row="compute")
    return Operator(kind="comm", row="tp-comm" if name.startswith(("tp-", "layernorm")) else "dp-comm", op=op)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Who takes part in an operator: global ranks (None where the file leaves them out), -1 for an unknown number."""

    name: str
    ranks: tuple[int, ...] | None
    size: int
    peer: int = -1


def group_of(name: str, job: Survey, worker: Worker) -> Group:
    """The group in which a worker runs a communication operator.

    Sums of gradients and gathers of parameters run over the replicas of a stage, the embedding's over its first and
    last stage, the norm's over all; a transfer between two stages is a group of two.
    """
    if delta := name.startswith(_NEXT_STAGE) - name.startswith(_PREVIOUS_STAGE):
        peer = job.rank_at(dp=worker.dp, stage=(worker.stage + delta) % job.stages, tp=worker.tp)
        low, high = sorted((worker.rank, worker.rank if peer is None else peer))
        direction = "" if operator(name).op == "sendrecv" else " " + name.partition("-")[0]
        ranks = None if peer is None else (low, high)
        return Group(name=f"pp {low}-{high}{direction}", ranks=ranks, size=2, peer=-1 if peer is None else peer)
    if operator(name).row == "tp-comm":
        size = job.meta.get("tp_size")
        return Group(
            name=f"tp dp{worker.dp} stage{worker.stage}", ranks=None, size=size if isinstance(size, int) else -1
        )
    if name == _REDUCES_NORM:
        mine, label = job.workers, "world"
    elif name.startswith("embedding"):
        ends = (0, job.stages - 1)
        mine = tuple(w for w in job.workers if (w.dp, w.tp) == (worker.dp, worker.tp) and w.stage in ends)
        label = f"embedding dp{worker.dp}"
    else:
        mine = tuple(w for w in job.workers if (w.stage, w.tp) == (worker.stage, worker.tp))
        label = f"dp stage{worker.stage}"
    return Group(name=label, ranks=tuple(w.rank for w in mine), size=len(mine))


def seconds(column: pa.ChunkedArray) -> tuple[I64, npt.NDArray[np.bool_]]:
    """Nanoseconds, (N,), of a column of seconds, and which of them are times; the others are 0."""
    values = np.asarray(column.cast(pa.float64()).to_numpy(), np.float64)
    known = np.isfinite(values) & (np.abs(values) < 2**33)
    values = np.where(known, values, 0.0)
    full = np.floor(values)  # whole and fraction apart, so that no digit is lost
    return full.astype(np.int64) * 10**9 + np.rint((values - full) * 1e9).astype(np.int64), known


def whole(column: pa.ChunkedArray) -> I64:
    """A column of whole numbers, (N,), with -1 for nulls."""
    return np.asarray(column.cast(pa.int64()).combine_chunks().fill_null(-1).to_numpy(), np.int64)
