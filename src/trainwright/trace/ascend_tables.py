"""Pour the tables of an Ascend rank: as they are, as memory, as a description of the run, as operators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from trainwright.core.errors import InputError
from trainwright.core.units import ns_from_text
from trainwright.trace.ascend_folder import COMMUNICATION, MATRIX, METADATA, OPERATORS
from trainwright.trace.ascend_groups import Groups
from trainwright.trace.ascend_kernels import KernelRows, kernel_rows
from trainwright.trace.ascend_memory import pour_allocations, pour_samples
from trainwright.trace.ascend_operators import Operators, operators_of
from trainwright.trace.columns import TextPool
from trainwright.trace.communication_report import TIME_INFO, pour_matrix, pour_times
from trainwright.trace.csvtext import CsvTable, read_csv
from trainwright.trace.json_document import read_document
from trainwright.trace.reader import RankSource, Sink

#: Levels of the reports on communication of one rank.
_LEVELS, _MATRIX_LEVELS = ("step", "type", "op"), ("step", "type", "op", "link")
_HOST = re.compile(r"^(.+)_\d+_\d{14,20}_ascend_(?:pt|ms)$")


class Tables:
    """The tables of one rank; a file that cannot be read costs itself."""

    def __init__(self, source: RankSource, sink: Sink) -> None:
        self._source = source
        self._sink = sink
        self._summary: CsvTable | None = None
        self._communication: Path | None = None
        self.groups = Groups()
        self.poured = 0

    def pour(self) -> None:
        """Pour all tables but those that make the timeline; those are kept for `operators`."""
        for path in self._source.files:
            pour = self._pour_csv if path.suffix == ".csv" else self._pour_json
            try:
                pour(path)
            except InputError as error:
                self._sink.quality("unreadable-file", example=error.what, file=path)

    def _pour_csv(self, path: Path) -> None:
        wants = self._source.wants
        memory = path.stem in ("operator_memory", "memory_record", "npu_module_mem") and wants("memory")
        operators = self._is_summary(path) and wants("events")
        if not (memory or operators or wants("reported")):
            return
        table = read_csv(path, self._sink)
        self.poured += 1
        if wants("reported"):
            self._sink.reported(path.stem, table.whole(), file=path)
        if operators:
            self._summary = table
        if memory and path.stem == "operator_memory":
            pour_allocations(table, self._sink)
        elif memory:
            pour_samples(table, self._sink, modules=path.stem == "npu_module_mem")

    def _is_summary(self, path: Path) -> bool:
        return path.name == OPERATORS or self._source.options.get("lone") == "operators"

    def _pour_json(self, path: Path) -> None:
        if path.name == COMMUNICATION:
            tree = read_document(path)
            self.groups.learn_operators(name for name, _ in _operators(tree))
            self._communication = path
            if self._source.wants("reported"):
                pour_times("communication", tree, _LEVELS, self._sink, path)
        elif path.name == MATRIX and self._source.wants("reported"):
            pour_matrix("communication_matrix", read_document(path), _MATRIX_LEVELS, self._sink, path)
        elif path.name.startswith("profiler_"):
            self._describe(path, read_document(path))

    def _describe(self, path: Path, content: object) -> None:
        if path.name == METADATA:
            self.groups.learn(content)
        if isinstance(content, dict) and self._source.wants("meta"):
            key = "profiler_metadata" if path.name == METADATA else "profiler_info"
            for name, value in content.items():
                self._sink.meta(f"{key}.{name}", value)

    def operators(self, names: TextPool, *, timeline: bool) -> Operators | None:
        """Operators of the rank, None when no table lists any.

        Without a timeline the communication operators that only ``communication.json`` lists are among them.
        """
        path, rows = None, None
        if self._summary is not None:
            path, rows = self._summary.path, kernel_rows(self._summary, names)
        if not timeline and self._communication is not None:
            known = set() if rows is None else set(rows.name.tolist())
            more = _communication_rows(self._communication, names, known)
            path, rows = path or self._communication, more if rows is None else rows.and_also(more)
        return None if path is None or rows is None else operators_of(rows, names.texts(), path)


def host_of(source: RankSource) -> str | None:
    """Host name in the name of a rank folder, which the profiler calls ``{host}_{pid}_{time}_ascend_pt``."""
    found = _HOST.match(source.path.name)
    return found.group(1) if found else None


def _operators(tree: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and content of every operator in ``communication.json``."""
    for step in tree.values() if isinstance(tree, dict) else ():
        for sort in step.values() if isinstance(step, dict) else ():
            for name, content in sort.items() if isinstance(sort, dict) else ():
                if isinstance(content, dict):
                    yield name, content


def _communication_rows(path: Path, names: TextPool, known: set[int]) -> KernelRows:
    """Communication operators with a start whose names are not among `known`."""
    starts: list[int] = []
    durations: list[int] = []
    codes: list[int] = []
    for name, content in _operators(read_document(path, exact=True)):
        times = content.get(TIME_INFO)
        start = _ns(times, "Start Timestamp(us)", 10**3)
        code = names.code(name.partition("@")[0])
        if start is not None and start > 0 and code not in known:
            starts.append(start)
            durations.append(_ns(times, "Elapse Time(ms)", 10**6) or 0)
            codes.append(code)
    none, text = np.full(len(starts), -1, np.int64), pa.nulls(len(starts), pa.string())
    return KernelRows(
        start=np.array(starts, np.int64), dur=np.array(durations, np.int64), wait=none,
        name=np.array(codes, np.int32), stream=none, task=none, device=none, blocks=none, op_type=text,
        core=pa.array(["HCCL"] * len(starts), pa.string()), shapes=text, dtypes=text, formats=text,
    )  # fmt: skip


def _ns(times: object, name: str, scale: int) -> int | None:
    value = times.get(name) if isinstance(times, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return ns_from_text(str(Decimal(value) * scale), "ns")
