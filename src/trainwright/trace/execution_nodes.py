"""Turn the nodes of an execution trace that was linked with a Kineto trace into slices and their details."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright.core.units import ns_from_text
from trainwright.trace.collective_names import is_collective_kernel, parse_collective
from trainwright.trace.reader import Sink

Node = Mapping[str, Any]

_DEVICE_KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}


@dataclass(frozen=True, kw_only=True)
class _Timed:
    """A node that has a time."""

    event: int
    node: Node
    kind: str
    start_ns: int
    dur_ns: int


def pour_nodes(nodes: Sequence[Node], sink: Sink) -> int:
    """Pour the nodes that carry a time; how many do. Times are ``ts`` and ``inclusive_dur`` in microseconds."""
    first = sink.events(len(nodes))
    timed = [found for at, node in enumerate(nodes) if (found := _timed(node, first + at)) is not None]
    if not timed:
        return 0
    sink.add(
        "slices", event=[each.event for each in timed], track=[_track(each, sink) for each in timed],
        start_ns=[each.start_ns for each in timed], dur_ns=[each.dur_ns for each in timed],
        name=[_name(each.node) for each in timed], kind=[each.kind for each in timed],
    )  # fmt: skip
    _pour_host([each for each in timed if each.kind == "op"], sink)
    _pour_device([each for each in timed if each.kind not in ("op", "annotation")], sink)
    return len(timed)


def _timed(node: Node, event: int) -> _Timed | None:
    start, dur = (ns_from_text(str(node[key])) if key in node else None for key in ("ts", "inclusive_dur"))
    if start is None:
        return None
    return _Timed(event=event, node=node, kind=_kind(node), start_ns=start, dur_ns=dur or 0)


def _kind(node: Node) -> str:
    category = str(node.get("cat", ""))
    if category == "kernel" and is_collective_kernel(_name(node)):
        return "comm"
    return _DEVICE_KINDS.get(category, "annotation" if category == "user_annotation" else "op")


def _track(each: _Timed, sink: Sink) -> int:
    if each.kind in ("op", "annotation"):
        tid = str(_attribute(each.node, "tid", -1))
        return sink.track(process="Host", thread=f"thread {tid}", tid=tid, side="host")
    stream = _whole(each.node.get("stream"))
    return sink.track(
        process="Device", thread=f"stream {stream}", pid="device", tid=str(stream), side="device", stream=stream
    )


def _pour_host(timed: Sequence[_Timed], sink: Sink) -> None:
    """Operators with their ids, shapes and types."""
    if not timed:
        return
    inputs = [value if isinstance(value, dict) else {} for value in (each.node.get("inputs") for each in timed)]
    sink.add(
        "ops", event=[each.event for each in timed], external_id=[_whole(each.node.get("id")) for each in timed],
        sequence=[_whole(_attribute(each.node, "seq_id", -1)) for each in timed],
        fwd_thread=[_whole(_attribute(each.node, "fw_tid", 0)) for each in timed],
        shapes=[_text(each.get("shapes")) for each in inputs], dtypes=[_text(each.get("types")) for each in inputs],
    )  # fmt: skip


def _pour_device(timed: Sequence[_Timed], sink: Sink) -> None:
    """Device tasks with the id of the operator that launched them, and collectives."""
    if not timed:
        return
    sink.add(
        "kernels", event=[each.event for each in timed], core_type="GPU",
        stream=[_whole(each.node.get("stream")) for each in timed],
        external_id=[_whole(each.node.get("ctrl_deps")) for each in timed],
    )  # fmt: skip
    comm = [each for each in timed if each.kind == "comm"]
    if comm:
        ops = [parse_collective(_name(each.node)).op or None for each in comm]
        sink.add("collectives", event=[each.event for each in comm], op=ops)


def _name(node: Node) -> str:
    return str(node.get("name", ""))


def _attribute(node: Node, name: str, default: Any) -> Any:
    """A field of a node: a member in old schemas, an entry of `attrs` in new ones."""
    if name in node:
        return node[name]
    attributes = node.get("attrs")
    for each in attributes if isinstance(attributes, list) else []:
        if isinstance(each, dict) and each.get("name") == name:
            return each.get("value", default)
    return default


def _whole(value: object) -> int:
    """A whole number of a node, -1 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else -1


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value, default=str)
