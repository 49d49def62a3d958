"""Read PyTorch Profiler (Kineto) and other Chrome traces: JSON or gzip, object or bare array, 2021 to 2026 schemas."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from trainwright.core.errors import InputError
from trainwright.trace.bytestream import read_head
from trainwright.trace.chrome import pour_events
from trainwright.trace.kineto_dialect import KINETO
from trainwright.trace.rank_names import rank_in_name
from trainwright.trace.reader import Folder, Found, RankOrigin, RankSource, Refusal, Sink

#: How much of a file is read to recognise it and to find its rank.
HEAD_BYTES = 1 << 20
_RANK_IN_CONTENT = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}]*?"rank"\s*:\s*"?(\d{1,9})(?!\d)')
_ARRAY_OF_OBJECTS = re.compile(rb"\[\s*\{")
_PHASE = re.compile(rb'"ph"\s*:')
_HOST_IN_NAME = re.compile(r"^([\w-]+)_\d+\.\d+(?:\.\d+)?\.pt\.trace\.json")


class KinetoReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "kineto"
    summary = "PyTorch Profiler (Kineto) and other Chrome traces: .json and .json.gz, object or bare array."
    priority = 90

    def find(self, folder: Folder) -> Found:
        """Every JSON file with an event array is one rank."""
        sources: list[RankSource] = []
        refusals: list[Refusal] = []
        for path in folder.files:
            try:
                head = read_head(path, HEAD_BYTES)
            except InputError as error:
                refusals.append(Refusal(path=path, reason=error.what))
                continue
            kind = _kind(head)
            if kind == "events":
                rank, origin = _rank_of(path, head)
                sources.append(RankSource(reader=self.code, path=path, files=(path,), rank=rank, rank_origin=origin))
            elif kind == "json":
                refusals.append(Refusal(path=path, reason="JSON without an event array: not a trace"))
        return Found(sources=tuple(sources), refusals=tuple(refusals))

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour the trace, its metadata and its process groups."""
        path = source.files[0]
        metadata = pour_events(path, sink, KINETO)
        for table in ("slices", "memory_events"):
            sink.used(table, path)
        base = metadata.get("baseTimeNanoseconds")
        if isinstance(base, int) and base:
            sink.shift(base)
        for key, value in metadata.items():
            sink.meta(key, value)
        _describe(metadata, path, sink)
        _pour_groups(metadata, sink)


def _kind(head: bytes) -> str:
    """``events`` for a trace, ``json`` for other JSON, empty for anything else."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text[:1] == b"{":
        return "events" if b'"traceEvents"' in text or len(head) == HEAD_BYTES else "json"
    if text[:1] == b"[":
        return "events" if _ARRAY_OF_OBJECTS.match(text) and _PHASE.search(text) else "json"
    return ""


def _rank_of(path: Path, head: bytes) -> tuple[int | None, RankOrigin]:
    """Rank from the content, else from the file name, else None."""
    if found := _RANK_IN_CONTENT.search(head):
        return int(found.group(1)), "content"
    return rank_in_name(path)


def _describe(metadata: dict[str, Any], path: Path, sink: Sink) -> None:
    devices = metadata.get("deviceProperties")
    name = None
    if isinstance(devices, list) and devices and isinstance(devices[0], dict):
        name = str(devices[0].get("name") or "") or None
    host = _HOST_IN_NAME.match(path.name)
    sink.describe(device=name, host=host.group(1) if host else None)


def _pour_groups(metadata: dict[str, Any], sink: Sink) -> None:
    info = metadata.get("distributedInfo")
    groups = info.get("pg_config") if isinstance(info, dict) else None
    for group in groups if isinstance(groups, list) else []:
        if not isinstance(group, dict):
            continue
        ranks = group.get("ranks")
        size = group.get("pg_size")
        sink.add(
            "groups",
            group=str(group.get("pg_name", "")),
            name=str(group.get("pg_desc") or ""),
            size=size if isinstance(size, int) else (len(ranks) if isinstance(ranks, list) else -1),
            ranks=json.dumps(ranks) if isinstance(ranks, list) else None,
        )


READER = KinetoReader()
