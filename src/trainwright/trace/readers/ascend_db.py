"""Read the databases of Ascend profilers: ``ascend_*_profiler_*.db``, ``msprof_*.db`` and ``analysis.db``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainwright.core.errors import InputError
from trainwright.trace.ascend_db_run import ANALYSIS, BROKEN, MAIN, MEMSCOPE, kind_of, pour_analysis, pour_run
from trainwright.trace.ascend_folder import OUTPUT, describing_files, listed, output_files, rank_of, raw_folders
from trainwright.trace.ascend_tables import Tables
from trainwright.trace.msprof_layout import find_outputs, is_profile_folder
from trainwright.trace.reader import Folder, Found, RankOrigin, RankSource, Refusal, Sink
from trainwright.trace.sqlite import is_sqlite

_SUFFIXES = (".db", ".dat")
_OUR_NAME = re.compile(r"^(?:ascend_\w+_profiler(?:_(?P<rank>\d{1,9}))?|msprof_\d+)$")
_EXPORT = re.compile(r"^msprof_\d+$")
_OFFERS = {"events": 2, "memory": 2, "counters": 2, "reported": 1, "meta": 2}


@dataclass(kw_only=True)
class _Databases:
    """The databases of a folder, by what they are: the profiles with the ranks they name, and analyses."""

    main: dict[Path, int | None] = field(default_factory=dict)
    analysis: list[Path] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


class AscendDbReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "ascend-db"
    summary = "Ascend profiler, database: ascend_pytorch_profiler_*.db, ascend_mindspore_profiler_*.db, msprof_*.db."
    priority = 11

    def find(self, folder: Folder) -> Found:
        """The rank whose folder this is, else one rank per database."""
        output = folder.path / OUTPUT
        if folder.path.name != OUTPUT and output.is_dir():
            return self._ranks(folder.path, _sort(listed(output)), folder)
        found = _sort(folder.files, alone=len(folder.files) == 1 and not folder.folders)
        if folder.path.name == OUTPUT:
            return self._ranks(folder.path.parent, found, folder)
        if is_profile_folder(folder.path) and len(find_outputs(folder)) > 1:
            reason = "the text exports beside it tell the same, device by device"
            return Found(refusals=tuple(Refusal(path=path, reason=reason) for path in found.main))
        return self._ranks(folder.path, found, folder)

    def _ranks(self, rank_folder: Path, found: _Databases, folder: Folder) -> Found:
        """One rank when there is one profile, else one per profile."""
        _keep_newest(found)
        one = len(found.main) < 2
        describing = describing_files(listed(rank_folder)) if one else ()
        if not one:
            reason = "does not say which of the databases here it belongs to"
            found.refusals += [Refusal(path=path, reason=reason) for path in found.analysis]
        named, origin = rank_of(describing)
        beside = describing or output_files(rank_folder, folder.files) or is_profile_folder(rank_folder)
        whole = one and (beside or (rank_folder / OUTPUT).is_dir())
        covers = _covered(rank_folder, folder) if whole else ()
        sources = []
        for path in found.main or (found.analysis[:1] if one else ()):
            rank, how = (named, origin) if named is not None else _rank_of(path, found.main.get(path))
            analysis = [each for each in found.analysis if one and each != path]
            files = (*describing, path, *analysis)
            sources.append(
                RankSource(
                    reader=self.code, path=rank_folder if whole else path, files=files, rank=rank, rank_origin=how,
                    covers=(*files, *covers), offers=_OFFERS, options={"main": path.name if path in found.main else ""},
                )
            )  # fmt: skip
        return Found(sources=tuple(sources), refusals=tuple(found.refusals))

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour the descriptions, the profile and the analysis; a bad analysis costs itself."""
        tables = Tables(source, sink)
        tables.pour()
        main = source.options["main"]
        for path in (path for path in source.files if path.suffix in _SUFFIXES or path.name == main):
            if path.name == main:
                pour_run(path, source, tables.groups, sink)
            elif source.wants("reported"):
                try:
                    pour_analysis(path, sink)
                except InputError as error:
                    sink.quality("unreadable-file", example=error.what, file=path)
                    if not main:
                        raise


def _sort(files: Sequence[Path], *, alone: bool = False) -> _Databases:
    """The databases among files; `alone` says that the user named the only one."""
    found = _Databases()
    for path in sorted(files):
        ours = _OUR_NAME.match(path.stem) is not None and path.suffix == ".db"
        if not ours and not ((alone or path.suffix in _SUFFIXES) and is_sqlite(path)):
            continue
        kind, rank = kind_of(path)
        if kind == MAIN:
            found.main[path] = rank
        elif kind == ANALYSIS:
            found.analysis.append(path)
        elif kind == MEMSCOPE:
            reason = "a dump of the memory tool msmemscope: single allocations without a timeline"
            found.refusals.append(Refusal(path=path, reason=reason))
        elif kind == BROKEN and (ours or alone):
            found.refusals.append(Refusal(path=path, reason="cannot be read as a SQLite file"))
        elif ours:
            found.refusals.append(Refusal(path=path, reason="holds no table of an Ascend profile"))
    return found


def _keep_newest(found: _Databases) -> None:
    """Of several exports of one collection, keep the last: msprof names them by the time of the export."""
    exports = [path for path in found.main if _EXPORT.match(path.stem)]
    for path in sorted(exports, key=lambda path: path.stem)[:-1]:
        del found.main[path]
        found.refusals.append(Refusal(path=path, reason="an older export of the same profile"))


def _covered(rank_folder: Path, folder: Folder) -> tuple[Path, ...]:
    """What nobody else needs to look at: raw data, and the output when no text form is in it."""
    output = rank_folder / OUTPUT
    text = output_files(output, listed(output)) if output.is_dir() else ()
    whole = (output,) if output in folder.folders and not text else ()
    return (*raw_folders(folder.folders), *whole)


def _rank_of(path: Path, mapped: int | None) -> tuple[int | None, RankOrigin]:
    """Rank from the map in a database, else from its name."""
    if mapped is not None:
        return mapped, "device map"
    named = _OUR_NAME.match(path.stem)
    return (int(named["rank"]), "database name") if named and named["rank"] else (None, "order")


READER = AscendDbReader()
