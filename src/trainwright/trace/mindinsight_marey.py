"""Read the marey graph of MindInsight: the operators of every device of a pipeline, in one JSON file."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from trainwright.core.units import ns_from_text
from trainwright.trace.json_document import read_document
from trainwright.trace.mindinsight_names import comm_op, device_op_kind
from trainwright.trace.reader import Sink
from trainwright.trace.reported_rows import document_rows, pour_rows

PREFIX, SCOPES = "ascend_marey_timeline_", "scope_map_"


def devices_of(path: Path) -> list[str]:
    """The devices in a graph, such as ``device0``.

    Raises:
        InputError: the file cannot be read.
    """
    return [name for name in _maps(read_document(path)) if name.removeprefix("device").isdecimal()]


def pour_device(path: Path, scopes: Path | None, device: str, sink: Sink) -> None:
    """Pour one device; what the files say of the whole job goes with the first of them.

    Raises:
        InputError: the file cannot be read.
    """
    document = read_document(path, exact=True)
    maps = _maps(document)
    _pour_operators(maps[device], path, sink)
    sink.describe(device="Ascend NPU")
    if device != next(iter(maps)):
        return
    pour_rows("marey_stages", document_rows(document["stage_data"]) if "stage_data" in document else [], sink, path)
    if scopes is not None:
        names = read_document(scopes)
        names = names.get("scope_map") if isinstance(names, dict) else None
        rows = [{"op": op, "scope": scope} for op, scope in names.items()] if isinstance(names, dict) else []
        pour_rows("scope_map", rows, sink, scopes)


def _maps(document: object) -> dict[str, Any]:
    maps = document.get("maps") if isinstance(document, dict) else None
    return {name: each for name, each in maps.items() if isinstance(each, dict)} if isinstance(maps, dict) else {}


def _pour_operators(operators: Mapping[str, Any], path: Path, sink: Sink) -> None:
    """Pour ``{name: {st, ed, dur}}``, in microseconds."""
    first = sink.events(len(operators))
    rows: dict[str, list[Any]] = {key: [] for key in ("event", "start_ns", "dur_ns", "name", "kind")}
    for at, (name, times) in enumerate(operators.items()):
        start, dur = (_ns(times.get(key)) if isinstance(times, dict) else None for key in ("st", "dur"))
        if start is None:
            sink.quality("no-time", example=name[:80], file=path)
            sink.lost()
            continue
        for key, value in zip(rows, (first + at, start, dur or 0, name, device_op_kind(name)), strict=True):
            rows[key].append(value)
    if not rows["event"]:
        return
    track = sink.track(process="Device", thread="Operators", side="device", device=0)
    sink.add("slices", track=track, **rows)
    tasks = [at for at, kind in enumerate(rows["kind"]) if kind in ("kernel", "comm")]
    if tasks:
        types = [rows["name"][at].rpartition("/")[2].partition("-op")[0] for at in tasks]
        sink.add("kernels", event=[rows["event"][at] for at in tasks], op_type=types)
    comm = [at for at in tasks if rows["kind"][at] == "comm"]
    if comm:
        ops = [comm_op(rows["name"][at]) for at in comm]
        sink.add("collectives", event=[rows["event"][at] for at in comm], op=ops)
    sink.used("slices", path)


def _ns(value: object) -> int | None:
    return ns_from_text(str(value)) if isinstance(value, int | float | Decimal) else None
