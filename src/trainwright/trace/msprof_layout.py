"""Find what the msprof command line left on disk, and which device each file is of.

Layouts met: ``PROF_*`` with ``mindstudio_profiler_output`` (one set of files for all devices), ``PROF_*`` with
``device_N/timeline`` and ``device_N/summary`` (names end in device, model and iteration), ``timeline`` and ``summary``
by themselves, and single files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainwright.core.errors import InputError
from trainwright.trace.bytestream import read_head
from trainwright.trace.reader import Folder

OUTPUT = "mindstudio_profiler_output"
#: Kinds of timelines, in the order in which they can stand in for each other; the first shows all the others do.
TIMELINES = ("msprof", "task_time", "hccl", "step_trace")
OPERATORS = "op_summary"
_PROFILE = re.compile(r"^PROF_\w+$")
_DEVICE = re.compile(r"^device_(\d{1,4})$")
_PARTS = ("timeline", "summary")
_OLD_NAME = re.compile(r"^(?P<kind>[a-z]\w*?)_(?P<device>\d{1,4})_(?P<model>\d{1,10})_(?P<iteration>\d{1,10})$")
_NEW_NAME = re.compile(
    r"^(?P<kind>l2_cache|[a-z][a-z_]*?[a-z])(?:_(?P<device>\d{1,4}))?(?:_slice_\d+)?(?:_\d{8,20})?(?:_slice_\d+)?$"
)
#: Files that are a profile by themselves.
_ANCHORS = (*TIMELINES, OPERATORS)
#: Tables that lie beside an anchor in a folder that holds other things too; in a folder of msprof's own, all count.
_BESIDE = frozenset(
    {
        *_ANCHORS, "op_statistic", "api_statistic", "communication_statistic", "npu_mem", "npu_module_mem", "l2_cache",
        "memory_record", "operator_memory", "static_op_mem", "fusion_op", "prof_rule", "aicpu", "runtime_api", "acl",
        "acl_statistic", "runtime_api_statistic", "ge_op_execute", "ai_core_utilization", "ai_vector_core_utilization",
        "hbm", "ddr", "llc_read_write", "hccs", "pcie", "nic", "roce", "acc_pmu", "soc_pmu", "data_preprocess",
    }
)  # fmt: skip
_SUFFIXES = (".json", ".csv")
_DESCRIBING = re.compile(r"^(?:info\.json|start_info|end_info|sample\.json)(?:\.\d{1,4})?$")
MAX_DESCRIPTION_BYTES = 1 << 20
HEAD_BYTES = 1 << 16
_EVENT_ARRAY = re.compile(rb'^\s*(?:\[\s*[\{\]]|\{[^\[]*"traceEvents"\s*:\s*\[)')


@dataclass(frozen=True, kw_only=True)
class OutputFile:
    """One file: what it is, its device (-1: all or unknown), and the iteration it covers (-1: all)."""

    path: Path
    kind: str
    device: int = -1
    iteration: int = -1

    @property
    def is_timeline(self) -> bool:
        """Whether it is an array of events."""
        return self.path.suffix == ".json" and self.kind in TIMELINES


@dataclass(frozen=True, kw_only=True)
class Output:
    """What one device left: `path` is shown to the user, `describing` are files that say what ran where."""

    path: Path
    device: int
    files: tuple[OutputFile, ...]
    describing: tuple[Path, ...]


def output_file(path: Path) -> OutputFile | None:
    """What the name of a file says; None when msprof writes no such file."""
    if path.suffix not in _SUFFIXES:
        return None
    old = _OLD_NAME.match(path.stem)
    if old:
        return OutputFile(path=path, kind=old["kind"], device=int(old["device"]), iteration=int(old["iteration"]))
    new = _NEW_NAME.match(path.stem)
    return OutputFile(path=path, kind=new["kind"], device=int(new["device"] or -1)) if new else None


def is_msprof_name(path: Path) -> bool:
    """Whether a file is named as msprof names its timelines and operator summaries."""
    file = output_file(path)
    return file is not None and file.kind in _ANCHORS


def is_profile_folder(path: Path) -> bool:
    """Whether a folder is that of one collection (``PROF_*``)."""
    return _PROFILE.match(path.name) is not None


def own_folders(folder: Folder) -> tuple[Path, ...]:
    """The sub-folders that msprof makes."""
    names = (OUTPUT, "host", *_PARTS)
    return tuple(path for path in folder.folders if path.name in names or _DEVICE.match(path.name))


def find_outputs(folder: Folder) -> list[Output]:
    """The outputs in a folder and in the sub-folders that belong to it, one per device, in device order."""
    devices = {int(found[1]): path for path in folder.folders if (found := _DEVICE.match(path.name))}
    shared = [file for file in _output_files(folder.files) if file.kind in _BESIDE]
    for name in (OUTPUT, *_PARTS):
        shared += _output_files(_listed(folder.path / name)) if folder.named(name) else []
    host = folder.path / "host" if folder.named("host") else None
    shared += _in_parts(host) if host else []
    by_device: dict[int, list[OutputFile]] = {device: _in_parts(path) for device, path in devices.items()}
    for file in shared:
        own = file.device if not devices or file.device in devices else min(devices)
        by_device.setdefault(own, []).append(file)
    if len(by_device) > 1 and -1 in by_device:  # what names no device goes with the first that is named
        rest = by_device.pop(-1)
        by_device[min(by_device)] += rest
    outputs = []
    for device, files in sorted(by_device.items()):
        if not any(_is_anchor(file) for file in files):
            continue
        home = devices.get(device, folder.path)
        near = [*_listed(home), *(_listed(host) if host else ())] if devices or host else []
        outputs.append(
            Output(
                path=home if len(devices) > 1 else folder.path,
                device=device,
                files=tuple(files),
                describing=tuple(filter(is_description, near)),
            )
        )
    return outputs


def is_description(path: Path) -> bool:
    """Whether a file says what was collected where."""
    return _DESCRIBING.match(path.name) is not None


def rank_of(describing: Iterable[Path]) -> int | None:
    """The rank that the collection says it is of; None where it says nothing."""
    for path in describing:
        if path.name.startswith("info.json"):
            rank = read_description(path).get("rank_id")
            if isinstance(rank, int | str) and str(rank).isdecimal() and len(str(rank)) < 10:
                return int(rank)
    return None


def read_description(path: Path) -> Mapping[str, Any]:
    """A small JSON object; empty when it is none."""
    try:
        value = json.loads(read_head(path, MAX_DESCRIPTION_BYTES))
    except (InputError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_anchor(file: OutputFile) -> bool:
    """Whether a file is a profile by itself: a timeline with an event array, or an operator summary."""
    if file.kind not in _ANCHORS:
        return False
    if file.path.suffix == ".csv":
        return file.kind == OPERATORS
    return is_event_array(file.path)


def is_event_array(path: Path) -> bool:
    """Whether a JSON file begins like a Chrome trace."""
    try:
        return _EVENT_ARRAY.match(read_head(path, HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")) is not None
    except InputError:
        return False


def _in_parts(folder: Path) -> list[OutputFile]:
    return [file for part in _PARTS for file in _output_files(_listed(folder / part))]


def _output_files(paths: Iterable[Path]) -> list[OutputFile]:
    found = [output_file(path) for path in paths]
    return sorted((file for file in found if file is not None), key=lambda file: (file.kind, file.iteration, file.path))


def _listed(folder: Path) -> list[Path]:
    """The files of a folder in name order; none when it cannot be listed."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:
        return []
