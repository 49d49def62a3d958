"""Read straggler traces in Parquet: many workers in one file, one row per pipeline or data-parallel operator.

Ranks are those of the file's ``rank`` column, or tp + tp_size * (dp + dp_size * stage) in the order of Megatron. The
files hold one tensor-parallel rank per stage and replica, so numbers may have gaps. Steps that are counted from their
own start are laid one after the other in the order of their numbers; time between them was not recorded.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from trainwright.core.errors import InputError
from trainwright.trace.reader import Folder, Found, RankSource, Refusal, Sink
from trainwright.trace.straggler_trace import (
    REQUIRED,
    WORKER_COLUMNS,
    Group,
    Survey,
    Worker,
    column_names,
    group_of,
    is_parquet,
    operator,
    read_worker,
    seconds,
    survey,
    whole,
)

#: Columns that are kept as they are, beside the slices.
DETAILS = ("seq_id", "mc", "gmc", "mb_id")


class StragglerReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "straggler-parquet"
    summary = "Straggler traces of the what-if analysis (trace-*.parquet): every worker of the file is a rank."
    priority = 30

    def find(self, folder: Folder) -> Found:
        """Every worker of every Parquet file with operators, steps and times."""
        sources: list[RankSource] = []
        refusals: list[Refusal] = []
        for path in filter(is_parquet, folder.files):
            try:
                names = column_names(path)
                if "optype" not in names:
                    continue
                if missing := [name for name in REQUIRED if name not in names]:
                    raise InputError(f"a straggler trace without the column(s) {', '.join(missing)}")
                meta = folder.named(f"{path.stem.replace('trace', 'meta', 1)}.yaml")
                sources.extend(self._source(path, meta, worker) for worker in survey(path, meta).workers)
            except (InputError, OSError) as error:
                refusals.append(Refusal(path=path, reason=getattr(error, "what", str(error))))
        return Found(sources=tuple(sources), refusals=tuple(refusals))

    def _source(self, path: Path, meta: Path | None, worker: Worker) -> RankSource:
        files = (path,) if meta is None else (path, meta)
        options = {name: str(value) for name, value in worker.columns.items()}
        return RankSource(
            reader=self.code, path=path, files=files, rank=worker.rank, rank_origin="content", options=options
        )

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour one worker: slices with their transfers, steps, groups, and the columns nothing else holds."""
        path = source.files[0]
        job = survey(path, source.files[1] if len(source.files) > 1 else None)
        place = {name: int(source.options[name]) for name in WORKER_COLUMNS if name in source.options}
        worker = next(worker for worker in job.workers if worker.columns == place)
        wanted = (*REQUIRED, *(name for name in DETAILS if name in column_names(path)))
        table = read_worker(path, worker, wanted)
        sink.describe(device="GPU")
        for key, value in {**job.meta, "dp_rank": worker.dp, "stage": worker.stage, "tp_rank": worker.tp}.items():
            sink.meta(f"job.{key}", value)
        _pour(table, job, worker, sink, path)
        sink.add("steps", step=job.steps, start_ns=job.start_ns, end_ns=job.start_ns + job.length_ns, origin="marked")
        for used in ("slices", "steps", "collectives"):
            sink.used(used, path)


def _pour(table: pa.Table, job: Survey, worker: Worker, sink: Sink, path: Path) -> None:
    start, has_start = seconds(table["start_ts"])
    dur, has_dur = seconds(table["duration"])
    timed = has_start & has_dur
    if not timed.all():
        lost = int((~timed).sum())
        sink.quality("no-time", count=lost, example="start_ts or duration is not a number", file=path)
        sink.lost(lost)
    first = sink.events(table.num_rows)
    rows = np.flatnonzero(timed)
    step = whole(table["step"])
    start += job.shift_ns[np.minimum(np.searchsorted(job.steps, step), len(job.steps) - 1)]
    names = table["optype"].fill_null("").combine_chunks().dictionary_encode()
    texts, codes = names.dictionary.to_pylist(), names.indices.to_numpy()
    operators = [operator(text) for text in texts]
    tracks = {row: _track(row, sink) for row in dict.fromkeys(each.row for each in operators)}
    event = np.arange(first, first + table.num_rows, dtype=np.int32)
    sink.add(
        "slices", event=event[rows], track=np.array([tracks[each.row] for each in operators], np.int32)[codes[rows]],
        start_ns=start[rows], dur_ns=dur[rows], name=names.take(pa.array(rows)),
        kind=[operators[code].kind for code in codes[rows]],
    )  # fmt: skip
    details = {name: table[name].combine_chunks() for name in table.column_names if name in DETAILS}
    sink.reported("straggler_trace", {"event": event, "step": step, "optype": names, **details}, file=path)
    number = np.searchsorted(job.steps, step) * job.sequences
    number += whole(table["seq_id"]) if "seq_id" in table.column_names else 0
    groups: dict[str, Group] = {}
    for code, text in enumerate(texts):
        mine = rows[codes[rows] == code]
        if operators[code].kind == "comm":
            group = groups.setdefault(text, group_of(text, job, worker))
            sink.add(
                "collectives", event=event[mine], group=group.name, seq=number[mine], op=operators[code].op,
                group_size=group.size, peer=group.peer,
            )  # fmt: skip
        elif operators[code].kind == "kernel":
            sink.add("kernels", event=event[mine], op_type=text, core_type="GPU")
    for group in {group.name: group for group in groups.values()}.values():
        ranks = None if group.ranks is None else json.dumps(group.ranks)
        sink.add("groups", group=group.name, name=group.name.partition(" ")[0], size=group.size, ranks=ranks)


def _track(row: str, sink: Sink) -> int:
    order = ("compute", "pp-comm", "tp-comm", "dp-comm")
    if row == "host":
        return sink.track(process="Host", thread="gc and data", side="host", sort=len(order))
    at = order.index(row)
    return sink.track(process="Worker", thread=row, tid=row, side="device", stream=at, device=0, sort=at)


READER = StragglerReader()
