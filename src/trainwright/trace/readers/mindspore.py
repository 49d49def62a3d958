"""Read the ``profiler`` folder of old MindSpore versions (MindInsight), and what MindSpore adds to an Ascend profile.

A rank is the number at the end of the file names. Its slices come from one file, the timeline or else the step trace,
because the clocks of the two cannot be joined; every other file is kept as a table. Where msprof left its own output
of the rank (``PROF_*``) beside them, that is the better source of slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from trainwright.core.errors import InputError
from trainwright.trace.mindinsight_files import pour_file
from trainwright.trace.mindinsight_marey import PREFIX, SCOPES, devices_of, pour_device
from trainwright.trace.mindinsight_names import SHARED, STEP_TRACE, TIMELINES, ReportFile, report_file
from trainwright.trace.msprof_layout import find_outputs, is_profile_folder, rank_of
from trainwright.trace.reader import Folder, Found, RankSource, Refusal, Sink

ASCEND_OUTPUT = "ASCEND_PROFILER_OUTPUT"
#: What MindSpore writes beside the files that every Ascend profile has; tables in CSV are read with those.
EXTRAS = ("minddata_pipeline_summary", "minddata_cpu_utilization", "pipeline_profiling")


class MindSporeReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "mindspore"
    summary = "MindSpore profiler folders of MindInsight: timelines, step traces, marey graphs, and their tables."
    priority = 21

    def find(self, folder: Folder) -> Found:
        """One rank per number in the file names, and one per device of a marey graph."""
        if folder.path.name == ASCEND_OUTPUT:
            return Found(sources=self._extras(folder.path, folder.files))
        by_rank: dict[int, list[ReportFile]] = {}
        for path in folder.files:
            if (file := report_file(path)) is not None:
                by_rank.setdefault(file.rank, []).append(file)
        profiles = _profiles(folder) if by_rank else {}
        sources = [
            self._source(rank, files, profiles)
            for rank, files in sorted(by_rank.items())
            if any(file.kind not in SHARED for file in files)
        ]
        refusals: list[Refusal] = []
        for path in folder.files:
            if path.name.startswith(PREFIX) and path.suffix == ".json":
                try:
                    sources.extend(self._devices(path, folder))
                except InputError as error:
                    refusals.append(Refusal(path=path, reason=error.what))
        output = folder.path / ASCEND_OUTPUT
        if output.is_dir():  # another reader may have taken it already
            sources.extend(self._extras(output, sorted(output.iterdir())))
        return Found(sources=tuple(sources), refusals=tuple(refusals))

    def _source(self, rank: int, files: list[ReportFile], profiles: Mapping[int, Path]) -> RankSource:
        best = min(files, key=_order)
        return RankSource(  # offers nothing: where msprof's output of the rank is there too, that is better
            reader=self.code, path=profiles.get(rank, best.path), files=tuple(file.path for file in files), rank=rank,
            rank_origin="file name",
        )  # fmt: skip

    def _devices(self, path: Path, folder: Folder) -> list[RankSource]:
        scopes = folder.named(path.name.replace(PREFIX, SCOPES))
        return [
            RankSource(
                reader=self.code, path=path, files=(path,) if scopes is None else (path, scopes),
                rank=int(name.removeprefix("device")[:9]), rank_origin="content", options={"device": name},
            )
            for name in devices_of(path)
        ]  # fmt: skip

    def _extras(self, output: Path, entries: Sequence[Path]) -> tuple[RankSource, ...]:
        """Files that MindSpore adds to the output of an Ascend rank; they join the sources of that rank."""
        found = [report_file(path) for path in entries if path.suffix == ".json"]
        files = tuple(file.path for file in found if file is not None and file.kind in EXTRAS)
        return (RankSource(reader=self.code, path=output.parent, files=files),) if files else ()

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour the file with events as slices and every other file as a table; a bad file costs itself."""
        if "device" in source.options:
            scopes = source.files[1] if len(source.files) > 1 else None
            pour_device(source.files[0], scopes, source.options["device"], sink)
            return
        files = [file for path in source.files if (file := report_file(path)) is not None]
        timed = [file for file in files if file.kind in (*TIMELINES, STEP_TRACE)]
        chosen = min(timed, key=_order) if timed and source.wants("events") else None
        failures: list[InputError] = []
        for file in files:
            try:
                pour_file(file, sink, as_events=file is chosen)
            except InputError as error:
                failures.append(error)
                sink.quality("file-not-read", example=error.what, file=file.path)
        if len(failures) == len(files):
            raise failures[0]
        if chosen is not None and chosen.kind != STEP_TRACE:
            sink.describe(
                device="GPU" if chosen.kind.startswith("gpu") else "CPU" if chosen.kind[0] == "c" else "Ascend NPU"
            )


def _order(file: ReportFile) -> tuple[int, str]:
    kinds = (*TIMELINES, STEP_TRACE)
    return (kinds.index(file.kind) if file.kind in kinds else len(kinds), file.path.name)


def _profiles(folder: Folder) -> dict[int, Path]:
    """The output of msprof in the sub-folders, by rank."""
    found: dict[int, Path] = {}
    for path in folder.folders:
        if is_profile_folder(path):
            try:
                entries = sorted(path.iterdir())
            except OSError:
                continue
            files, folders = (tuple(e for e in entries if e.is_dir() == wanted) for wanted in (False, True))
            for output in find_outputs(Folder(path=path, files=files, folders=folders)):
                rank = rank_of(output.describing)
                if rank is not None:
                    found.setdefault(rank, output.path)
    return found


READER = MindSporeReader()
