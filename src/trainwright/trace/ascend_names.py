"""What Ascend profilers call things: task types, communication operators, groups, links, memory.

Shared by the readers of the text, database and msprof forms, so that one run gives one store whatever its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from trainwright.trace.collective_names import MOST_MESSAGE_BYTES, element_bytes, parse_collective

#: Host threads hand work to the device through calls with a connection id. Other ids that join slices are moved out of
#: its way: those of the launch queue (enqueue, dequeue) and those made for an operator without a recorded call.
QUEUE_LINK = 1 << 40
OPERATOR_LINK = 1 << 41

#: Units that run operators. msprof calls the same unit differently in tasks, in operator summaries and by version.
COMPUTE_TYPES = frozenset(
    {
        "AI_CORE", "AI_VECTOR_CORE", "AIC", "AIV", "AIV_SQE", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA", "DSA_SQE",
        "KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV", "CUBE", "VECTOR", "AICPU",
    }
)  # fmt: skip
#: What an operator summary calls the unit of a communication operator.
COMM_CORES = frozenset({"HCCL", "COMMUNICATION", "HCOM"})
#: Kind of a task that is named after its type, because no operator belongs to it. What is not here is ``other``:
#: records of events, markers of the profiler, maintenance.
_KIND_OF_TYPE = {
    "MEMCPY_ASYNC": "memcpy", "MEMCOPYASYNC": "memcpy", "MEMCPY": "memcpy", "MEMCPY_ADDR_ASYNC": "memcpy",
    "PCIE_DMA": "memcpy", "SDMA_SQE": "memcpy", "PCIE_DMA_SQE": "memcpy", "MEMCPY_ASYNC_WITHOUT_SDMA": "memcpy",
    "MEMSET_ASYNC": "memset", "MEMSET": "memset",
    "EVENT_WAIT": "sync", "STREAM_WAIT_EVENT": "sync", "NOTIFY_WAIT": "sync", "CAPTURE_WAIT": "sync",
    "MEM_WAIT_VALUE": "sync", "EVENT_WAIT_SQE": "sync", "NOTIFY_WAIT_SQE": "sync",
    # parts of a communication operator unfolded on the device: with a blank, these stand in no other task graph
    "NOTIFY WAIT": "comm_task", "NOTIFY RECORD": "comm_task", "WRITE VALUE": "comm_task", "SDMA": "comm_task",
    "REDUCE_ASYNC_V2": "comm_task", "NOTIFY_RECORD": "comm_task", "RDMA_SEND": "comm_task", "RDMA": "comm_task",
    "RDMA_DB_SEND": "comm_task",
    "KERNEL_AICORE": "kernel", "KERNEL_AIVEC": "kernel", "KERNEL_MIX_AIC": "kernel", "KERNEL_MIX_AIV": "kernel",
    "AI_CORE": "kernel", "AI_VECTOR_CORE": "kernel", "MIX_AIC": "kernel", "MIX_AIV": "kernel", "AIC": "kernel",
    "AIV": "kernel", "AIV_SQE": "kernel",
}  # fmt: skip
_GENERIC_NAME = re.compile(r"^(?:[A-Z][A-Z0-9_]*|Other|Unknown|MemcopyAsync|(?:[A-Z][a-z]+ )+[A-Z][a-z]+)$")
_DEVICE_MARK = re.compile(r"^MsTx_\d+$")

_STEP = re.compile(r"^ProfilerStep\s*#?\s*(\d+)$")
_DATALOADER = re.compile(r"^enumerate\(DataLoader\)|DataLoader.*__next__|^data[._ ]?load(?:er|ing)", re.IGNORECASE)
_ANNOTATION = re.compile(r"^Optimizer\.\w+#|^(?:#+|\[)|^nn\.Module:|^DistributedDataParallel\.")
_HCOM = re.compile(r"^(?P<op>hcom_?[A-Za-z0-9]+?)_*__?(?P<group>\d+)_(?P<seq>\d+)(?:_\d+)?(?:@(?P<id>.+))?$")
#: No rank, no stream, no model: the largest unsigned number of 32 bits.
NOTHING = 2**32 - 1


def device_kind(task_type: str, name: str) -> str:
    """Kind of a task on a hardware stream, a kind of `trainwright.trace.schema.KINDS`.

    Tasks with an operator are computation, whatever unit ran them: this is what the profiler's own ``Computing``
    counts (msprof, overlap_analysis_assembler: all tasks with operator information but the kernels that carry out
    communication). A task without an operator is named after its type.
    """
    if is_comm_kernel(name):
        return "comm_task"
    if _DEVICE_MARK.match(name):
        return "device_annotation"
    if kind := _KIND_OF_TYPE.get(name.upper()):
        return kind
    if _GENERIC_NAME.match(name) and (task_type.upper() not in COMPUTE_TYPES or name.upper() in COMPUTE_TYPES):
        return "other"
    return "kernel"


def is_comm_kernel(name: str) -> bool:
    """Whether a kernel carries out a communication operator; msprof does not count those as computing."""
    return name.endswith(("AicpuKernel", "AivKernel"))


def framework_kind(category: str, name: str) -> str:
    """Kind of a range of the framework (PyTorch, MindSpore) by its category and name."""
    if category in ("enqueue", "dequeue") or name == "Enqueue" or name.startswith("Dequeue@"):
        return "queue"
    if category == "python_function":
        return "python"
    if _STEP.match(name):
        return "step"
    if _DATALOADER.search(name):
        return "dataloader"
    if category not in ("cpu_op", "op", "") or _ANNOTATION.search(name):
        return "annotation"
    return "op" if category else "annotation"


def step_number(name: str) -> int | None:
    """Number of a marked step, None when the name marks none."""
    found = _STEP.match(name)
    return int(found.group(1)) if found and len(found.group(1)) < 19 else None


def is_comm_operator(core: str, name: str) -> bool:
    """Whether a row of an operator summary is a communication operator, by its unit and name."""
    return core.upper() in COMM_CORES or is_hcom(name)


def is_hcom(name: str) -> bool:
    """Whether a name is that of a communication operator, such as ``hcom_allReduce__586_0_1``."""
    return _HCOM.match(name) is not None


@dataclass(frozen=True, kw_only=True)
class HcomName:
    """What the name of a communication operator says.

    `op` is the canonical operator, empty when unknown; `suffix` the last three digits of the group's id; `group` the
    whole id where the name carries it; `seq` counts the operators of a group, whatever they are, -1 when unknown.
    """

    op: str
    suffix: str = ""
    group: str = ""
    seq: int = -1


def parse_hcom(name: str) -> HcomName:
    """``hcom_allReduce__586_0_1@10471851537367425586`` in parts; other names give their operator only."""
    found = _HCOM.match(name)
    if found is None:
        return HcomName(op=parse_collective(name.partition("@")[0]).op)
    seq = found["seq"]
    return HcomName(
        op=parse_collective(found["op"]).op,
        suffix=found["group"],
        group=found["id"] or "",
        seq=int(seq) if len(seq) < 19 else -1,
    )


def group_id(comm_name: str) -> str:
    """The id that operators carry for a group of this name: two 32-bit polynomial hashes, as msprof computes them."""
    high = low = 0
    for letter in comm_name:
        high = (high * 29 + ord(letter)) & NOTHING
        low = (low * 131 + ord(letter)) & NOTHING
    return str((high << 32) | low)


def match_group(suffix: str, known: Iterable[str]) -> str:
    """The only one of the known group ids that ends in `suffix`; the suffix itself when none or several do."""
    fitting = {group for group in known if suffix and group.endswith(suffix)}
    return fitting.pop() if len(fitting) == 1 else suffix


def message_bytes(op: str, count: int, dtype: str | None, group_size: int) -> int:
    """Message size of a communication operator per rank, the larger of input and output; -1 when unknown.

    HCCL counts what one rank contributes (all-gather) or keeps (reduce-scatter); the larger side is the whole.
    """
    size = count * element_bytes(dtype)
    if count < 0 or not size:
        return -1
    whole = op in ("allgather", "reducescatter") and group_size > 0
    size = size * group_size if whole else size
    return size if size <= MOST_MESSAGE_BYTES else -1


def memory_device(name: str) -> str:
    """``npu:0`` for ``NPU:0``."""
    return name.strip().lower()


def module_component(module: str) -> str:
    """Component of a memory sample that a CANN module reports, apart from those of the framework (``APP`` is both)."""
    return f"module {module}"


def one_line(lists: Any) -> Any:
    """An Arrow column of lists (shapes, types), which the profiler joins by ``;`` and a line break, without breaks."""
    return pc.replace_substring(lists, ";\r\n", ";")


def one_per_line(stacks: Any) -> Any:
    """An Arrow column of call stacks with one frame per line, as the store wants them."""
    return pc.replace_substring_regex(stacks, r";\r?\n", "\n")
