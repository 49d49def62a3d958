"""Find what an Ascend PyTorch or MindSpore profile left on disk, and whose rank it is.

A rank is a folder that holds ``ASCEND_PROFILER_OUTPUT``, that folder itself, or single files of it under names of the
user's choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from trainwright.core.errors import InputError
from trainwright.trace.ascend_kernels import is_operator_summary
from trainwright.trace.bytestream import read_head
from trainwright.trace.csvtext import read_header
from trainwright.trace.json_document import read_document
from trainwright.trace.msprof_layout import is_msprof_name
from trainwright.trace.reader import RankOrigin

OUTPUT = "ASCEND_PROFILER_OUTPUT"
TIMELINE, OPERATORS = "trace_view.json", "kernel_details.csv"
COMMUNICATION, MATRIX = "communication.json", "communication_matrix.json"
#: Files that make a folder the output of a profiler, whatever it is called.
_TELLING = frozenset(
    {
        TIMELINE, OPERATORS, "operator_details.csv", "operator_memory.csv", "memory_record.csv", "step_trace_time.csv",
        COMMUNICATION,
    }
)  # fmt: skip
#: Tables that stand beside one of those.
_TABLES = frozenset(
    {
        "npu_module_mem.csv", "static_op_mem.csv", "l2_cache.csv", "op_statistic.csv", "api_statistic.csv",
        "data_preprocess.csv", "dataset.csv",
    }
)  # fmt: skip
_REPORTS = frozenset({TIMELINE, COMMUNICATION, MATRIX})
#: Raw data that the output was made from.
_RAW = re.compile(r"^(?:FRAMEWORK|logs|PROF_.*)$")
_INFO = re.compile(r"^profiler_info(?:_(\d{1,9}))?\.json$")
METADATA = "profiler_metadata.json"
#: How much of a lone file is read to recognise it.
HEAD_BYTES = 1 << 16
_EVENT_ARRAY = re.compile(rb'^\s*(?:\[\s*\{|\{[^\[]*"traceEvents"\s*:\s*\[)')
_ASCEND = re.compile(
    rb'"(?:torch_to_npu|async_npu|async_task_queue|enqueue_to_dequeue|Ascend Hardware|Physic Stream Id)"|"AscendCL@'
    rb'|"Fwd thread id"[^{}]*\}[^{}]*"ts"\s*:\s*"\d{16}|"ts"\s*:\s*"\d{16}[^{}]*\{[^{}]*"Fwd thread id"'
)


def output_files(folder: Path, files: Iterable[Path]) -> tuple[Path, ...]:
    """The files of a folder that a reader of text should open, in name order.

    Empty when the folder is neither called ``ASCEND_PROFILER_OUTPUT`` nor holds a file that makes it one.
    """
    if folder.name == OUTPUT:
        return tuple(sorted(path for path in files if path.suffix == ".csv" or path.name in _REPORTS))
    known = sorted(path for path in files if path.name in _TELLING | _TABLES | _REPORTS)
    return tuple(known) if any(path.name in _TELLING for path in known) else ()


def listed(folder: Path) -> list[Path]:
    """The files directly in a folder; empty when it cannot be listed."""
    try:
        return [entry for entry in folder.iterdir() if entry.is_file()]
    except OSError:
        return []


def describing_files(files: Iterable[Path]) -> tuple[Path, ...]:
    """The files of a rank folder that describe the run, in name order."""
    return tuple(sorted(path for path in files if path.name == METADATA or _INFO.match(path.name)))


def raw_folders(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Those of the sub-folders of a rank folder that hold raw data."""
    return tuple(path for path in folders if _RAW.match(path.name))


def is_exported(raw: Path) -> bool:
    """Whether a folder with raw data also holds what msprof makes of it."""
    try:
        return (raw / "mindstudio_profiler_output").is_dir() or any(raw.glob("msprof_*.db"))
    except OSError:
        return False


def rank_of(describing: Iterable[Path]) -> tuple[int | None, RankOrigin]:
    """Rank from the name of ``profiler_info_{rank}.json``, else from the metadata, else None."""
    files = list(describing)
    for path in files:
        named = _INFO.match(path.name)
        if named and named.group(1):
            return int(named.group(1)), "file name"
    for path in files:
        if path.name == METADATA:
            rank = _rank_in(path)
            if rank is not None:
                return rank, "metadata"
    return None, "order"


def _rank_in(metadata: Path) -> int | None:
    try:
        content = read_document(metadata)
    except InputError:
        return None
    arguments = content.get("distributed_args") if isinstance(content, dict) else None
    rank = arguments.get("rank") if isinstance(arguments, dict) else None
    return rank if type(rank) is int and rank >= 0 else None


def lone_kind(path: Path) -> str:
    """``timeline`` or ``operators`` for a file by itself, ``broken`` when its name promises what it does not hold.

    Empty for everything else.
    """
    timeline = path.name.endswith((".json", ".json.gz"))
    if (not timeline and path.suffix != ".csv") or is_msprof_name(path):
        return ""
    try:
        head = read_head(path, HEAD_BYTES)
    except InputError:
        return ""
    if not timeline:
        return "operators" if path.suffix == ".csv" and is_operator_summary(read_header(head)) else ""
    promised = "trace_view" in path.name
    if _EVENT_ARRAY.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "timeline" if promised or _ASCEND.search(head) else ""
    return "broken" if promised else ""
