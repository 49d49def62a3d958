"""Read what the msprof command line exports: ``PROF_*`` folders old and new, their parts, and single files.

Slices come from ``msprof_*.json``, which shows all that ``task_time``, ``hccl`` and ``step_trace`` files show; those
give slices only for iterations without it, and are kept as tables otherwise. Details of kernels come from
``op_summary_*.csv``, and slices too where there is no timeline. All iterations of a device are one rank; its steps are
the iterations. Times stay on the clock of the source (old versions: time since boot).
"""

from __future__ import annotations

import filecmp
from collections.abc import Mapping, Sequence

import numpy as np

from trainwright.core.errors import InputError
from trainwright.trace.ascend_groups import Groups
from trainwright.trace.ascend_timeline import pour_timeline
from trainwright.trace.csvtext import CsvTable
from trainwright.trace.msprof_layout import (
    OPERATORS,
    TIMELINES,
    Output,
    OutputFile,
    find_outputs,
    is_description,
    is_profile_folder,
    output_file,
    own_folders,
    rank_of,
)
from trainwright.trace.msprof_tables import STEPS, describe, operators_in, pour_document, pour_table
from trainwright.trace.msprof_timeline import (
    capture_timelines,
    pour_iterations,
    pour_steps,
    steps_in_table,
    steps_in_timeline,
)
from trainwright.trace.reader import PARTS, Folder, Found, RankSource, Refusal, Sink

_RAW = "raw data of msprof that was not exported: run `msprof --export=on --output=<this PROF folder>` first"


class MsprofReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "msprof"
    summary = "msprof output: PROF_* folders old and new, mindstudio_profiler_output, op_summary_*.csv, msprof_*.json."
    priority = 20

    def find(self, folder: Folder) -> Found:
        """One rank per device, in a folder of msprof's or among other files."""
        outputs = find_outputs(folder)
        whole = is_profile_folder(folder.path)
        if not outputs:
            raw = tuple(path for path in own_folders(folder) if whole and not list(folder.path.glob("*.db")))
            return Found(refusals=tuple(Refusal(path=path, reason=_RAW) for path in raw))
        return Found(sources=tuple(self._source(output, folder, whole=whole) for output in outputs))

    def _source(self, output: Output, folder: Folder, *, whole: bool) -> RankSource:
        files = (*(file.path for file in output.files), *output.describing)
        lone = not own_folders(folder) and not whole
        rank = rank_of(output.describing)
        return RankSource(
            reader=self.code,
            path=output.files[0].path if lone and len(output.files) == 1 else output.path,
            files=files,
            rank=rank,
            rank_origin="order" if rank is None else "metadata",
            covers=(*folder.files, *folder.folders) if whole else (*files, *own_folders(folder)),
            offers=dict.fromkeys(PARTS, 1),
            options={"device": str(output.device)},
        )

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour one device; a bad file costs itself."""
        notes = [path for path in source.files if is_description(path)]
        describe(notes, sink, meta=source.wants("meta"))
        sink.describe(device="Ascend NPU")
        files = [file for path in source.files if path not in notes and (file := output_file(path)) is not None]
        timelines = [file for file in files if file.is_timeline]
        rest = [file for file in files if not file.is_timeline]
        if source.wants("events"):
            timelines = _distinct(timelines, sink)
            rest += [file for file in timelines if file not in _best(timelines)]
        elif timelines:
            example = "the database of the same collection shows their events"
            sink.quality("not-read", count=len(timelines), example=example, file=source.path)
        tables: dict[str, list[CsvTable]] = {}
        for file in rest:
            try:
                if file.path.suffix == ".json":
                    pour_document(file, sink)
                elif (table := pour_table(file, source, sink)) is not None:
                    tables.setdefault(file.kind, []).append(table)
            except InputError as error:
                sink.quality("file-not-read", example=error.what, file=file.path)
        if source.wants("events"):
            _pour_events(source, timelines, tables, sink)


def _distinct(timelines: Sequence[OutputFile], sink: Sink) -> list[OutputFile]:
    """The timelines without copies: old versions write the same step trace once for every iteration."""
    kept: dict[tuple[str, int], list[OutputFile]] = {}
    for file in timelines:
        same = kept.setdefault((file.kind, file.path.stat().st_size), [])
        if any(filecmp.cmp(file.path, known.path, shallow=False) for known in same):
            sink.quality("same-content", example=f"{file.path.name} is a copy of it, left out", file=same[0].path)
        else:
            same.append(file)
    return [file for files in kept.values() for file in files]


def _best(timelines: Sequence[OutputFile]) -> list[OutputFile]:
    """The timelines that slices come from: per iteration the one that shows everything, else all there are."""
    covered = {file.iteration for file in timelines if file.kind == TIMELINES[0]}
    everything = -1 in covered
    return [file for file in timelines if file.kind == TIMELINES[0] or not (everything or file.iteration in covered)]


def _pour_events(
    source: RankSource, timelines: Sequence[OutputFile], tables: Mapping[str, Sequence[CsvTable]], sink: Sink
) -> None:
    chosen = _best(timelines)
    old = [file.device for file in chosen if file.iteration >= 0]
    capture = capture_timelines([file.path for file in chosen], max(old, default=-1), sink)
    operators = operators_in(tables.get(OPERATORS, ()), capture.names)
    if not len(capture.event) and operators is None:
        raise InputError(
            f"{source.path}: none of its timelines and operator summaries can be read", todo="export again"
        )
    starts = [capture.start, *([] if operators is None else [operators.rows.start])]
    capture, iterations = pour_iterations(capture, sink)
    pour_timeline(capture, operators, Groups(), sink)
    recorded = [steps_in_timeline(file.path) for file in timelines if file.kind == STEPS]
    listed = [steps_in_table(table) for table in tables.get(STEPS, ())]
    pour_steps((*recorded, iterations, *listed), np.concatenate(starts), sink)
    devices = {track.device for track in capture.tracks.values() if track.device >= 0}
    if len(devices) > 1:
        example = f"devices {', '.join(map(str, sorted(devices)))} are one rank here: export them one by one"
        sink.quality("several-devices", count=len(devices), example=example, file=source.path)


READER = MsprofReader()
