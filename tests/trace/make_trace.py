"""Write small Chrome traces for tests."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def slice_event(
    name: str, ts: object, dur: object, *, cat: str = "cpu_op", pid: object = 1, tid: object = 1, **args: Any
) -> Event:
    """A complete event; times in microseconds, as the test wants them written."""
    event: Event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
    if args:
        event["args"] = args
    return event


def kernel_event(name: str, ts: object, dur: object, *, stream: int = 7, device: int = 0, **args: Any) -> Event:
    """A kernel on a stream of a device."""
    return slice_event(name, ts, dur, cat="kernel", pid=device, tid=stream, stream=stream, device=device, **args)


def step_event(number: int, ts: object, dur: object) -> Event:
    """The mark of a training step."""
    return slice_event(f"ProfilerStep#{number}", ts, dur, cat="user_annotation")


def write_trace(path: Path, events: Sequence[Event], **metadata: Any) -> Path:
    """A trace as PyTorch writes it: an object with ``traceEvents``; gzip where the name says so."""
    text = json.dumps({"schemaVersion": 1, **metadata, "traceEvents": list(events)}, indent=2).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path
