"""Recognise PyTorch and Chakra execution traces, and JSON that looks like a profile without being one.

An execution trace is the graph of the operators that ran. As PyTorch writes it, it holds no times, so it is refused
with that reason; traces that were linked with a Kineto trace carry the times of their nodes and are read.
"""

from __future__ import annotations

import json
import re

from trainwright.core.errors import InputError
from trainwright.trace.bytestream import read_head
from trainwright.trace.execution_nodes import pour_nodes
from trainwright.trace.json_document import read_document
from trainwright.trace.rank_names import rank_in_name
from trainwright.trace.reader import Folder, Found, RankSource, Refusal, Sink

HEAD_BYTES = 1 << 20
_SCHEMA = re.compile(rb'"schema"\s*:\s*"([^"]{1,40})"')
_NODES = re.compile(rb'"nodes"\s*:\s*\[')
_TIMED_NODE = re.compile(rb'"ts"\s*:\s*-?\d')
_ONLY_NUMBERS = re.compile(rb"\[\s*\[\s*-?\d+\s*,\s*[0-3]\s*,\s*\d+\s*,\s*\d+\s*\]\s*[,\]]")

#: What a JSON object is that holds all of these members, and what to give instead.
_KNOWN_OBJECTS: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"job_meta", "step_t_base"}),
        "the result of a straggler what-if analysis, not a profile: give its trace-*.parquet",
    ),
    (
        frozenset({"tori", "tideal"}),
        "a straggler metric (Mw or Ms) of a what-if analysis, not a profile: give its trace-*.parquet",
    ),
    (
        frozenset({"entries", "pg_config"}),
        "a flight recorder dump of collectives: it says what was pending, not how long things took",
    ),
)
_NO_TIMES = "the graph of the operators that ran, without times: give the Kineto trace of the same run"
_MEMORY_TIMELINE = (
    "a raw memory timeline: sizes by category without operators: give the trace recorded with profile_memory=True"
)
_ONLY_LABELS = "a list of events of which none has a time: labels of processes and threads only"


class ExecutionTraceReader:
    """See the module's text; the contract is `trainwright.trace.reader.Reader`."""

    code = "execution-trace"
    summary = "PyTorch and Chakra execution traces whose nodes carry times; those without are refused with the reason."
    priority = 31

    def find(self, folder: Folder) -> Found:
        """Execution traces, as ranks or refusals, and known look-alikes."""
        sources: list[RankSource] = []
        refusals: list[Refusal] = []
        for path in folder.files:
            try:
                head = read_head(path, HEAD_BYTES)
            except InputError:
                continue  # whoever reads the format says so
            schema = _execution_trace(head)
            if schema and _TIMED_NODE.search(head):
                rank, origin = rank_in_name(path)
                sources.append(RankSource(reader=self.code, path=path, files=(path,), rank=rank, rank_origin=origin))
            elif schema:
                refusals.append(Refusal(path=path, reason=f"an execution trace (schema {schema}): {_NO_TIMES}"))
            elif reason := _look_alike(head, whole=len(head) < HEAD_BYTES):
                refusals.append(Refusal(path=path, reason=reason))
        return Found(sources=tuple(sources), refusals=tuple(refusals))

    def read(self, source: RankSource, sink: Sink) -> None:
        """Pour the nodes that carry times; the others are counted."""
        path = source.files[0]
        document = read_document(path, exact=True)
        nodes = document.get("nodes") if isinstance(document, dict) else None
        nodes = [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
        timed = pour_nodes(nodes, sink)
        if not timed:
            raise InputError(f"{path} is an execution trace: {_NO_TIMES}", todo="give the Kineto trace")
        if timed < len(nodes):
            sink.quality("no-time", count=len(nodes) - timed, example="nodes of the graph without times", file=path)
        sink.quality("device-times-inexact", example="the linker may write the time of the launch instead", file=path)
        for key in ("schema", "pid", "time", "start_ts", "finish_ts"):
            if key in document:
                sink.meta(f"execution_trace.{key}", document[key])
        sink.used("slices", path)


def _execution_trace(head: bytes) -> str:
    """The schema of an execution trace, empty for anything else."""
    found = _SCHEMA.search(head[:4096])
    return found.group(1).decode("utf-8", "replace") if found and _NODES.search(head[:65536]) else ""


def _look_alike(head: bytes, *, whole: bool) -> str:
    """Why a file is no profile although it looks like one; empty where it may be one."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if _ONLY_NUMBERS.match(text):
        return _MEMORY_TIMELINE
    if not whole or text[:1] not in (b"{", b"["):
        return ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if isinstance(value, list) and value and all(isinstance(each, dict) and each.get("ph") == "M" for each in value):
        return _ONLY_LABELS
    members = value.keys() if isinstance(value, dict) else frozenset[str]()
    return next((reason for wanted, reason in _KNOWN_OBJECTS if wanted <= members), "")


READER = ExecutionTraceReader()
