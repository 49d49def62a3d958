"""Pour the timeline of an Ascend rank: slices with their kinds and links, kernels, communication, steps.

The timeline comes from ``trace_view.json``, the details of its operators from ``kernel_details.csv``. Operators that
only the second file has are added; without the first file all slices come from the second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright.trace.ascend_capture import Capture, Track
from trainwright.trace.ascend_groups import Groups
from trainwright.trace.ascend_kinds import KindColumn, slice_kinds
from trainwright.trace.ascend_launches import TASK_KINDS, Launches, find_launches
from trainwright.trace.ascend_names import NOTHING, is_comm_kernel, message_bytes, parse_hcom, step_number
from trainwright.trace.ascend_operators import Operators, join_operators
from trainwright.trace.reader import Sink

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

#: Slices handed on at once: the texts of a batch are looked up together.
BATCH = 1 << 18
_GROUP_LABEL = re.compile(r"^Group\s+(\S+?)\s*Communication")


def pour_timeline(capture: Capture, operators: Operators | None, groups: Groups, sink: Sink) -> None:
    """Pour everything that is joined by event numbers, and the steps."""
    matched = np.full(len(capture.event), -1, np.int64)
    if operators is not None:
        capture, matched = join_operators(capture, operators, sink)
    pour_joined(capture, slice_kinds(capture), matched, operators, groups, sink)


def pour_joined(
    capture: Capture, kinds: KindColumn, matched: I64, operators: Operators | None, groups: Groups, sink: Sink
) -> None:
    """Pour a timeline whose slices have these kinds; `matched`, (N,), is the row of `operators` of each slice or -1."""
    if operators is not None:
        _trust_summary(capture, kinds, matched, operators)
    launches = find_launches(capture, kinds)
    for number, track in capture.tracks.items():
        if track.device >= 0:
            sink.label(number, side="device", stream=track.stream, device=track.device)
    _pour_kernels(capture, kinds, matched, launches, operators, sink)
    group_of_track = _pour_collectives(capture, kinds, groups, sink)
    _pour_links(capture, group_of_track, sink)
    _pour_steps(capture, kinds, sink)
    groups.pour(sink)
    texts = capture.names.texts()
    for begin in range(0, len(capture.event), BATCH):
        part = slice(begin, begin + BATCH)
        sink.add(
            "slices", event=capture.event[part], track=capture.track[part], start_ns=capture.start[part],
            dur_ns=capture.dur[part], name=_names(capture.name[part], texts),
            kind=KindColumn(codes=kinds.codes[part]).arrow(), link=launches.link[part],
        )  # fmt: skip


def _trust_summary(capture: Capture, kinds: KindColumn, matched: I64, operators: Operators) -> None:
    """What the summary lists as computation is computation, whatever the timeline calls its task."""
    texts = capture.names.texts()
    carries = np.array([is_comm_kernel(text) for text in texts] + [False], np.bool_)
    known = matched >= 0
    known[known] = ~operators.is_comm[matched[known]]
    kinds.codes[known & ~carries[capture.name]] = KindColumn.code("kernel")


def _names(codes: I32, texts: list[str]) -> pa.DictionaryArray:
    """Names of a batch, with only those in the dictionary that occur in it."""
    used, at = np.unique(codes, return_inverse=True)
    words = pa.array([texts[code] if code >= 0 else None for code in used.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(at.reshape(-1).astype(np.int32)), words)


def _pour_kernels(
    capture: Capture, kinds: KindColumn, matched: I64, launches: Launches, operators: Operators | None, sink: Sink
) -> None:
    """Details of every task, from the timeline and from the operator summary."""
    tasks = np.flatnonzero(kinds.among(*TASK_KINDS))
    if not len(tasks):
        return
    arguments = _arguments(capture.tasks, capture.event[tasks])
    stream = _coalesce(arguments["Physic Stream Id"], arguments["Stream Id"])
    number = _filled(arguments["Task Id"])
    on = capture.track[tasks]
    stream_of, device_of = (np.full(max(capture.tracks) + 1, -1, np.int64) for _ in range(2))
    for at, track in capture.tracks.items():
        stream_of[at], device_of[at] = track.stream, track.device
    core = arguments["Task Type"]
    columns: dict[str, Any] = {}
    if operators is not None:
        rows = operators.rows.take(matched[tasks])
        stream, number = np.where(stream >= 0, stream, rows.stream), np.where(number >= 0, number, rows.task)
        core = pc.coalesce(rows.core, core)
        columns = {
            "op_type": rows.op_type, "shapes": rows.shapes, "dtypes": rows.dtypes, "formats": rows.formats,
            "blocks": np.where(rows.blocks < 2**31, rows.blocks, -1), "wait_ns": rows.wait,
        }  # fmt: skip
    sink.add(
        "kernels", event=capture.event[tasks], stream=np.where(stream >= 0, stream, stream_of[on]),
        device=device_of[on], external_id=launches.operator[tasks], core_type=core,
        bytes=_filled(arguments["data size(Byte)"]), task=number, **columns,
    )  # fmt: skip


def _arguments(table: pa.Table, events: I32) -> Mapping[str, pa.Array]:
    """Arguments of some events, null where an event has none."""
    have = table["event"].to_numpy()
    order = np.argsort(have, kind="stable")
    at = np.searchsorted(have[order], events)
    inside = np.minimum(at, max(len(have) - 1, 0))
    hit = np.zeros(len(events), np.bool_) if not len(have) else have[order[inside]] == events
    rows = pa.array(order[inside] if len(have) else np.zeros(len(events), np.int64), mask=~hit)
    return {name: table[name].combine_chunks().take(rows) for name in table.column_names}


def _filled(column: pa.Array, default: int = -1) -> I64:
    return np.asarray(column.fill_null(default).to_numpy(zero_copy_only=False), np.int64)


def _coalesce(first: pa.Array, second: pa.Array) -> I64:
    return _filled(pc.coalesce(first, second))


def _pour_collectives(capture: Capture, kinds: KindColumn, groups: Groups, sink: Sink) -> dict[int, str]:
    """Details of communication operators; the group of every row that shows some."""
    comms = np.flatnonzero(kinds.among("comm"))
    arguments = _arguments(capture.comms, capture.event[comms])
    texts = capture.names.texts()
    parsed = {int(code): parse_hcom(texts[code]) for code in np.unique(capture.name[comms]) if code >= 0}
    rows: dict[str, list[Any]] = {key: [] for key in ("group", "seq", "op", "group_size", "bytes")}
    dtypes, counts = arguments["data_type"].to_pylist(), _filled(arguments["count"]).tolist()
    sizes = _filled(arguments["rank_size"]).tolist()
    group_of_track: dict[int, str] = {}
    for at, row in enumerate(comms.tolist()):
        name = parsed.get(int(capture.name[row]), parse_hcom(""))
        track = int(capture.track[row])
        group = name.group or _labelled_group(capture.tracks[track]) or groups.of(name.suffix)
        group_of_track.setdefault(track, group)
        members = sizes[at] if sizes[at] > 0 else groups.size(group)
        rows["group"].append(group or None)
        rows["seq"].append(name.seq)
        rows["op"].append(name.op or None)
        rows["group_size"].append(members if members < 2**31 else -1)
        rows["bytes"].append(message_bytes(name.op, counts[at], dtypes[at], members))
    if len(comms):
        sink.add(
            "collectives", event=capture.event[comms], dtype=arguments["data_type"],
            algorithm=arguments["alg_type"], **rows,
        )  # fmt: skip
    return group_of_track


def _labelled_group(track: Track) -> str:
    """The group that a row is labelled with, empty when it is only counted."""
    found = _GROUP_LABEL.match(track.thread)
    return found.group(1) if found and not (found.group(1).isdecimal() and len(found.group(1)) < 4) else ""


def _pour_links(capture: Capture, group_of_track: Mapping[int, str], sink: Sink) -> None:
    """Details of communication tasks."""
    events = capture.links["event"].to_numpy()
    if not len(events):
        return
    order = np.argsort(capture.event, kind="stable")
    at = order[np.minimum(np.searchsorted(capture.event[order], events), len(order) - 1)]
    track = capture.track[at]
    plane = {number: capture.tracks[number].thread for number in np.unique(track).tolist()}
    group = {number: _group_above(capture.tracks, number, group_of_track) for number in plane}
    ends = {}
    for end in ("src", "dst"):
        rank = _filled(capture.links[f"{end} rank"].combine_chunks())
        ends[end] = np.where((rank >= 0) & (rank < min(NOTHING, 2**31)), rank, -1)
    sink.add(
        "links", event=events, group=[group[number] for number in track.tolist()], **ends,
        transport=_transport(capture.links), bytes=_filled(capture.links["size(Byte)"].combine_chunks()),
        plane=[plane[number] for number in track.tolist()],
        bandwidth=capture.links["bandwidth(GB/s)"].combine_chunks().fill_null(np.nan).to_numpy(zero_copy_only=False),
    )  # fmt: skip


def _transport(links: pa.Table) -> pa.Array:
    """The link that carried a task; the engine that moved the bytes where no link is named."""
    link = links["link type"].combine_chunks()
    named = pc.if_else(pc.is_in(link, pa.array(["INVALID_TYPE", "N/A", "RESERVED"])), None, link)
    return pc.coalesce(named, links["transport type"].combine_chunks())


def _group_above(tracks: Mapping[int, Track], number: int, group_of_track: Mapping[int, str]) -> str | None:
    """Planes stand below the row of their group: the group with the next smaller thread id of the process."""
    plane = tracks[number]
    above = [
        (int(tracks[at].tid), group)
        for at, group in group_of_track.items()
        if tracks[at].pid == plane.pid and tracks[at].tid.isdecimal()
    ]
    tid = int(plane.tid) if plane.tid.isdecimal() else -1
    return max(((at, group) for at, group in above if at < tid), default=(0, ""))[1] or None


def _pour_steps(capture: Capture, kinds: KindColumn, sink: Sink) -> None:
    texts = capture.names.texts()
    for row in np.flatnonzero(kinds.among("step")).tolist():
        step = step_number(texts[capture.name[row]])
        if step is not None:
            start, dur = int(capture.start[row]), int(capture.dur[row])
            sink.add("steps", step=step, start_ns=start, end_ns=start + dur, origin="marked")
