"""Read ``cluster_analysis_output``: what cluster analysis tools report over all ranks, kept as tables for SQL.

Nothing in it is an event of one rank. The folder becomes one source with the role ``cluster``, so that it is never
taken for a rank of the run it describes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainwright.core.errors import InputError
from trainwright.trace.bytestream import read_head
from trainwright.trace.communication_report import (
    CLUSTER_LEVELS,
    CLUSTER_MATRIX_LEVELS,
    pour_matrix,
    pour_times,
)
from trainwright.trace.csvtext import read_csv
from trainwright.trace.json_document import read_document
from trainwright.trace.reader import Folder, Found, RankSource, Sink
from trainwright.trace.reported_rows import column, pour_rows
from trainwright.trace.sqlite import Database

OUTPUT_FOLDER = "cluster_analysis_output"
_NAMES = re.compile(
    r"cluster_(?:step_trace_time\.csv|communication(?:_matrix)?\.json|analysis\.db)|communication_group\w*\.json"
)
_GROUP_FILE = re.compile(rb'\s*\{\s*"(?:collective|p2p|comm_group_parallel_info)"\s*:\s*\[')
HEAD_BYTES = 1 << 12


class ClusterOutputReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "cluster-output"
    summary = "cluster_analysis_output of msprof-analyze: CSV, JSON and cluster_analysis.db, as tables for SQL."
    priority = 5

    def find(self, folder: Folder) -> Found:
        """The output folder as a whole, or its files where they lie among others."""
        files = tuple(path for path in folder.files if _is_ours(path))
        whole = folder.path.name == OUTPUT_FOLDER and bool(folder.files)
        if whole:
            files = tuple(path for path in folder.files if path.suffix in (".csv", ".json", ".db"))
        if not files:
            return Found()
        source = RankSource(
            reader=self.code,
            path=folder.path if whole else files[0],
            files=files,
            covers=(*folder.files, *folder.folders) if whole else files,
            options={"role": "cluster"},
        )
        return Found(sources=(source,))

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour every file as reported tables, and the communication groups; a bad file costs itself."""
        sizes = [path.stat().st_size for path in source.files]
        failures: list[InputError] = []
        for at, path in enumerate(source.files):
            try:
                _POUR[path.suffix](path, sink)
            except InputError as error:
                failures.append(error)
                sink.quality("file-not-read", example=error.what, file=path)
            sink.progress(sum(sizes[: at + 1]), sum(sizes))
        if len(failures) == len(source.files):
            raise failures[0]


def _is_ours(path: Path) -> bool:
    if not _NAMES.fullmatch(path.name):
        return False
    if path.name.startswith("communication_group"):
        try:
            return _GROUP_FILE.match(read_head(path, HEAD_BYTES)) is not None
        except InputError:
            return False
    return True


def _pour_csv(path: Path, sink: Sink) -> None:
    table = read_csv(path, sink)
    sink.events(table.rows)
    sink.reported(path.stem, table.whole(), file=path)


def _pour_json(path: Path, sink: Sink) -> None:
    tree = read_document(path, exact=True)
    if path.name.startswith("communication_group"):
        _pour_groups(path.stem, tree, sink, path)
    elif path.stem == "cluster_communication":
        pour_times(path.stem, tree, CLUSTER_LEVELS, sink, path)
    elif path.stem == "cluster_communication_matrix":
        pour_matrix(path.stem, tree, CLUSTER_MATRIX_LEVELS, sink, path)
    else:
        sink.events(1)
        sink.meta(path.stem, tree)


def _pour_groups(name: str, tree: object, sink: Sink, path: Path) -> None:
    """Groups with their parallel role where the file has it; old files only list the ranks, by kind of use."""
    members = tree if isinstance(tree, dict) else {}
    detailed = members.get("comm_group_parallel_info")
    lists = [
        {"type": kind, "rank_set": ranks}
        for kind in ("collective", "p2p")
        for ranks in (members[kind] if isinstance(members.get(kind), list) else ())
    ]
    rows = [row for row in detailed if isinstance(row, dict)] if isinstance(detailed, list) else []
    pour_rows(name, lists, sink, path)
    pour_rows(f"{name}_parallel_info", rows, sink, path)
    for row in rows or lists:
        _add_group(row, sink, path)
    sink.used("groups", path)


def _add_group(row: Mapping[str, Any], sink: Sink, path: Path) -> None:
    ranks = row.get("rank_set")
    if isinstance(ranks, str):  # the database writes "(0,1)"
        ranks = [int(number) for number in re.findall(r"\d{1,9}", ranks)]
    if not isinstance(ranks, list) or not ranks or not all(isinstance(rank, int) for rank in ranks):
        sink.quality("bad-group", example=f"{row.get('rank_set')!r}"[:80], file=path)
        return
    group = row.get("group_name") or f"{row.get('type')} {json.dumps(sorted(ranks))}"
    sink.add(
        "groups", group=str(group), name=row.get("pg_name") or None, size=len(ranks), ranks=json.dumps(sorted(ranks))
    )


def _pour_database(path: Path, sink: Sink) -> None:
    def trouble(code: str, count: int, example: str) -> None:
        sink.quality(code, count=count, example=example, file=path)

    with Database(path, trouble) as database:
        for table in database.tables.values():
            batches = list(database.batches(table.name))
            columns = {
                name: [value for batch in batches for value in batch.natural(name).to_pylist()]
                for name in table.columns
            }
            rows = sum(batch.rows for batch in batches)
            if not rows:
                continue
            sink.events(rows)
            sink.reported(table.name, {name: column(values) for name, values in columns.items()}, file=path)
            if table.name == "CommunicationGroupMapping":
                for values in zip(*columns.values(), strict=True):
                    _add_group(dict(zip(columns, values, strict=True)), sink, path)
                sink.used("groups", path)


_POUR = {".csv": _pour_csv, ".json": _pour_json, ".db": _pour_database}

READER = ClusterOutputReader()
