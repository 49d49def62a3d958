"""Read the text output of the Ascend PyTorch Profiler (and of MindSpore's): ``trace_view.json`` and CSV tables."""

from __future__ import annotations

from pathlib import Path

from trainwright.core.errors import InputError
from trainwright.trace.ascend_capture import Capture, capture_trace, empty_capture, pour_counters
from trainwright.trace.ascend_folder import (
    OUTPUT,
    TIMELINE,
    describing_files,
    is_exported,
    listed,
    lone_kind,
    output_files,
    rank_of,
    raw_folders,
)
from trainwright.trace.ascend_tables import Tables, host_of
from trainwright.trace.ascend_timeline import pour_timeline
from trainwright.trace.rank_names import rank_in_name
from trainwright.trace.reader import PARTS, Folder, Found, RankSource, Refusal, Sink


class AscendTextReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "ascend-text"
    summary = (
        "Ascend profiler, text: ASCEND_PROFILER_OUTPUT of *_ascend_pt, or a trace_view.json or kernel_details.csv."
    )
    priority = 10

    def find(self, folder: Folder) -> Found:
        """The rank whose folder this is, else lone files that are one rank each."""
        output = folder.named(OUTPUT)
        if output is not None and output.is_dir():
            return self._rank(folder.path, output, listed(output), folder)
        if folder.path.name == OUTPUT:
            return self._rank(folder.path.parent, folder.path, folder.files, folder)
        raw = raw_folders(folder.folders)
        if raw and describing_files(folder.files) and not any(map(is_exported, raw)):
            reason = "raw data only: run torch_npu.profiler.profiler.analyse on it first"
            return Found(refusals=(Refusal(path=folder.path, reason=reason),))
        taken = self._rank(folder.path, folder.path, folder.files, folder)
        covered = {path for source in taken.sources for path in source.covers}
        lone = self._lone([path for path in folder.files if path not in covered])
        return Found(sources=taken.sources + lone.sources, refusals=taken.refusals + lone.refusals)

    def _rank(self, rank_folder: Path, output: Path, files: list[Path] | tuple[Path, ...], folder: Folder) -> Found:
        """The rank with this output, if there is any in it."""
        present = output_files(output, files)
        broken = tuple(path for path in present if path.name == TIMELINE and lone_kind(path) != "timeline")
        present = tuple(path for path in present if path not in broken)
        refusals = tuple(Refusal(path=path, reason="holds no event array") for path in broken)
        if not present:
            return Found(refusals=refusals)
        describing = describing_files(listed(rank_folder))
        covers = [*present, *describing, *raw_folders(folder.folders)]
        if output in folder.folders and not any(path.suffix == ".db" for path in files):
            covers.append(output)
        rank, origin = rank_of(describing)
        source = RankSource(
            reader=self.code, path=rank_folder, files=(*describing, *present), rank=rank, rank_origin=origin,
            covers=tuple(covers), offers=dict.fromkeys(PARTS, 1),
        )  # fmt: skip
        return Found(sources=(source,), refusals=refusals)

    def _lone(self, files: list[Path]) -> Found:
        sources: list[RankSource] = []
        refusals: list[Refusal] = []
        for path in files:
            kind = lone_kind(path)
            if kind == "broken":
                refusals.append(Refusal(path=path, reason="named like a timeline, but holds no event array"))
            elif kind:
                rank, origin = rank_in_name(path)
                source = RankSource(
                    reader=self.code, path=path, files=(path,), rank=rank, rank_origin=origin, options={"lone": kind}
                )
                sources.append(source)
        return Found(sources=tuple(sources), refusals=tuple(refusals))

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour the tables, then the timeline they belong to."""
        tables = Tables(source, sink)
        tables.pour()
        if not source.wants("events"):
            timeline = _timeline(source)
            if timeline is not None and source.wants("counters"):
                pour_counters(timeline, sink)
            return
        capture, trouble = _capture(source, sink)
        operators = tables.operators(capture.names, timeline=bool(len(capture.event)))
        if not len(capture.event) and operators is None and not tables.poured:
            raise trouble or InputError(f"{source.path}: no table of the rank can be read", todo="export it again")
        pour_timeline(capture, operators, tables.groups, sink)
        on_device = any(track.device >= 0 for track in capture.tracks.values())
        sink.describe(device="Ascend NPU" if on_device else None, host=host_of(source))


def _timeline(source: RankSource) -> Path | None:
    """The file with the timeline of a rank."""
    if source.options.get("lone") == "timeline":
        return source.files[0]
    return next((path for path in source.files if path.name == TIMELINE), None)


def _capture(source: RankSource, sink: Sink) -> tuple[Capture, InputError | None]:
    """The timeline, or an empty one with the reason where it cannot be read."""
    path = _timeline(source)
    if path is None:
        sink.quality("no-timeline", example=f"{TIMELINE} is not here: slices come from tables", file=source.path)
        return empty_capture(), None
    try:
        capture = capture_trace(path, sink, counters=source.wants("counters"))
    except InputError as error:
        sink.quality("unreadable-file", example=error.what, file=path)
        return empty_capture(), error
    sink.used("slices", path)
    return capture, None


READER = AscendTextReader()
