"""A small Ascend run as an explicit list of what happened, for tests to write in any form.

`small_run` is made so that its figures can be worked out by hand (see `Expected`).
"""

from __future__ import annotations

from dataclasses import dataclass

#: Start of the run: epoch nanoseconds with digits that a float64 of microseconds loses.
EPOCH_NS = 1_736_412_474_725_417_503
PID = 4242
MAIN_THREAD, QUEUE_THREAD = 101, 102
COMM_NAME = "10.0.0.1%eth0_55000_0_1738895486152654"
#: What msprof makes of that name.
GROUP_ID = "12869210326440265431"
NO_MODEL = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class HostOp:
    """An operator or other range of the framework; `category` as the text form writes it."""

    name: str
    start_ns: int
    dur_ns: int
    thread: int = MAIN_THREAD
    category: str = "cpu_op"
    sequence: int = -1
    shapes: str = ""
    dtypes: str = ""
    stack: str = ""


@dataclass(frozen=True, kw_only=True)
class QueueEntry:
    """Handing an operator to the launch thread: enqueued on the main thread, dequeued on the other."""

    name: str
    correlation: int
    enqueue_ns: int
    dequeue_ns: int
    enqueue_dur_ns: int = 500
    dequeue_dur_ns: int = 3_000


@dataclass(frozen=True, kw_only=True)
class HostCall:
    """A call into CANN (``Node@launch``, ``AscendCL@aclrtMemcpyAsync``)."""

    name: str
    start_ns: int
    dur_ns: int
    connection: int
    thread: int = QUEUE_THREAD
    level: str = "node"


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task on a hardware stream. Those with an operator have an `op_type`, others are named after their type.

    `launched_by` is the name of the host operator that the profiler found for it, empty for none.
    """

    name: str
    start_ns: int
    dur_ns: int
    stream: int
    task: int
    task_type: str
    connection: int
    subtask: int = NO_MODEL
    op_type: str = ""
    core: str = ""
    shapes: str = ""
    dtypes: str = ""
    formats: str = ""
    blocks: int = 0
    wait_ns: int = 0
    bytes: int = -1
    launched_by: str = ""


@dataclass(frozen=True, kw_only=True)
class CommOp:
    """A communication operator of the only group; `index` counts them."""

    index: int
    start_ns: int
    dur_ns: int
    connection: int
    count: int
    op: str = "allReduce"
    dtype: str = "FP32"
    algorithm: str = "MESH-RING"
    launched_by: str = ""

    @property
    def name(self) -> str:
        """Its name in every form of the run."""
        return f"hcom_{self.op}__{GROUP_ID[-3:]}_{self.index}_1"


@dataclass(frozen=True, kw_only=True)
class CommTask:
    """A part of a communication operator; also shown as a `Task` of the same stream and task number."""

    name: str
    start_ns: int
    dur_ns: int
    plane: int
    stream: int
    task: int
    src: int
    dst: int
    bytes: int
    transport: str = "SDMA"
    link: str = "HCCS"
    bandwidth: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """Memory of the framework's allocator; `release_ns` is -1 while it lives on, `allocate_ns` -1 for older memory."""

    op: str
    bytes: int
    allocate_ns: int
    release_ns: int
    allocated_bytes: int
    reserved_bytes: int


@dataclass(frozen=True, kw_only=True)
class MemorySample:
    """Totals of one component at one time; -1 for what it does not report."""

    component: str
    ts_ns: int
    allocated_bytes: int
    reserved_bytes: int
    active_bytes: int


@dataclass(frozen=True, kw_only=True)
class Counter:
    """A sampled value."""

    name: str
    series: str
    ts_ns: int
    value: float


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Figures of `small_run`, worked out by hand."""

    computing_ns: int
    communication_ns: int
    not_overlapped_ns: int
    free_ns: int


@dataclass(frozen=True, kw_only=True)
class AscendRun:
    """Everything that happened on one rank. Times are nanoseconds since `EPOCH_NS`."""

    rank: int
    device: int
    step: int
    step_start_ns: int
    step_dur_ns: int
    host_ops: tuple[HostOp, ...]
    queue: tuple[QueueEntry, ...]
    calls: tuple[HostCall, ...]
    tasks: tuple[Task, ...]
    comm_ops: tuple[CommOp, ...]
    comm_tasks: tuple[CommTask, ...]
    allocations: tuple[Allocation, ...]
    samples: tuple[MemorySample, ...]
    modules: tuple[MemorySample, ...]
    counters: tuple[Counter, ...]
    ranks: tuple[int, ...]
    expected: Expected
    group_name: str = "dp"


def small_run(rank: int = 0, *, device: int = 0) -> AscendRun:
    """One step: a matrix product and a cast on stream 2, an all-reduce that overlaps both, a copy.

    ::

        stream 2      [10,000 mm 30,000)   [32,000 cast 36,000)   [40,000 copy 41,000)
        communication             [28,000 all-reduce                       48,000)

    Computing 24,000 ns, communication 20,000, of which 2,000 + 4,000 overlap; nothing idle between 10,000 and 48,000.
    """
    stack = "model.py(12): forward;\r\ntrain.py(7): step"
    launched = {"mm": "aten::mm", "all": "c10d::allreduce_", "copy": "aten::copy_"}
    return AscendRun(
        rank=rank, device=device, step=5, step_start_ns=0, step_dur_ns=100_000, ranks=(0, 1),
        host_ops=(
            HostOp(name=launched["mm"], start_ns=1_000, dur_ns=8_000, sequence=7, shapes="32,64;\r\n64,16",
                   dtypes="c10::BFloat16;\r\nc10::BFloat16", stack=stack),
            HostOp(name=launched["all"], start_ns=20_000, dur_ns=6_000),
            HostOp(name=launched["copy"], start_ns=30_000, dur_ns=5_000),
            HostOp(name="enumerate(DataLoader)#_Single.__next__", start_ns=60_000, dur_ns=10_000),
            HostOp(name="torch/nn/modules/linear.py(114): forward", start_ns=500, dur_ns=9_000,
                   category="python_function"),
        ),
        queue=(
            QueueEntry(name="Dequeue@aclnnMm", correlation=11, enqueue_ns=2_000, dequeue_ns=5_000),
            QueueEntry(name="Dequeue@hcclAllReduce", correlation=501, enqueue_ns=21_000, dequeue_ns=22_000),
            QueueEntry(name="Dequeue@acl_memcpy", correlation=13, enqueue_ns=31_000, dequeue_ns=32_000),
        ),
        calls=(
            HostCall(name="Node@launch", start_ns=6_000, dur_ns=1_000, connection=501),
            HostCall(name="Node@launch", start_ns=23_000, dur_ns=500, connection=502),
            HostCall(name="AscendCL@aclrtMemcpyAsync", start_ns=33_000, dur_ns=1_000, connection=503, level="acl"),
        ),
        tasks=(
            Task(name="aclnnMm_MatMulV2", start_ns=10_000, dur_ns=20_000, stream=2, task=1, task_type="AI_CORE",
                 connection=501, op_type="MatMulV2", core="AI_CORE", shapes='"32,64;64,16"',
                 dtypes="DT_BF16;DT_BF16", formats="ND;ND", blocks=20, launched_by=launched["mm"]),
            Task(name="aclnnMm_Cast", start_ns=32_000, dur_ns=4_000, stream=2, task=2, task_type="AI_CORE",
                 connection=501, op_type="Cast", core="AI_VECTOR_CORE", shapes='"32,16"', dtypes="FLOAT",
                 formats="ND", blocks=8, wait_ns=2_000),
            Task(name="MEMCPY_ASYNC", start_ns=40_000, dur_ns=1_000, stream=2, task=3, task_type="PCIE_DMA_SQE",
                 connection=503, bytes=4_096, launched_by=launched["copy"]),
            Task(name="EVENT_WAIT", start_ns=26_000, dur_ns=2_000, stream=4, task=8, task_type="EVENT_WAIT_SQE",
                 connection=502),
            Task(name="Notify Wait", start_ns=28_000, dur_ns=12_000, stream=4, task=9, task_type="Notify Wait",
                 connection=502, subtask=0),
            Task(name="SDMA", start_ns=40_000, dur_ns=7_000, stream=4, task=9, task_type="SDMA", connection=502,
                 subtask=1),
            Task(name="MEMCPY_ASYNC", start_ns=47_000, dur_ns=500, stream=4, task=10, task_type="SDMA_SQE",
                 connection=502),
        ),
        comm_ops=(
            CommOp(index=0, start_ns=28_000, dur_ns=20_000, connection=502, count=1_000, launched_by=launched["all"]),
        ),
        comm_tasks=(
            CommTask(name="Notify_Wait", start_ns=28_000, dur_ns=12_000, plane=0, stream=4, task=9, src=rank,
                     dst=1 - rank, bytes=0, transport="LOCAL", link="INVALID_TYPE"),
            CommTask(name="Memcpy", start_ns=40_000, dur_ns=7_000, plane=1, stream=4, task=9, src=rank, dst=1 - rank,
                     bytes=4_000, bandwidth=0.57),
            CommTask(name="Memcpy", start_ns=47_000, dur_ns=500, plane=0, stream=4, task=10, src=rank, dst=rank,
                     bytes=512, link="ON_CHIP", bandwidth=1.02),
        ),
        allocations=(
            Allocation(op="aten::mm", bytes=1_536, allocate_ns=1_500, release_ns=50_000, allocated_bytes=3_072,
                       reserved_bytes=2 << 20),
            Allocation(op="aten::empty", bytes=512, allocate_ns=3_000, release_ns=-1, allocated_bytes=3_584,
                       reserved_bytes=2 << 20),
            Allocation(op="aten::old", bytes=1_024, allocate_ns=-1, release_ns=4_000, allocated_bytes=2_560,
                       reserved_bytes=2 << 20),
        ),
        samples=(
            MemorySample(component="PTA", ts_ns=1_500, allocated_bytes=3_072, reserved_bytes=2 << 20,
                         active_bytes=3_072),
            MemorySample(component="APP", ts_ns=9_000, allocated_bytes=-1, reserved_bytes=3 << 20, active_bytes=-1),
        ),
        modules=(
            MemorySample(component="HCCL", ts_ns=9_500, allocated_bytes=-1, reserved_bytes=1 << 20, active_bytes=-1),
        ),
        counters=(Counter(name="AI Core Freq", series="MHz", ts_ns=100, value=1_800.0),),
        expected=Expected(
            computing_ns=24_000, communication_ns=20_000, not_overlapped_ns=14_000, free_ns=0
        ),
    )  # fmt: skip


def us(ns: int) -> str:
    """A time since `EPOCH_NS` as microseconds since the epoch."""
    return f"{(EPOCH_NS + ns) // 1000}.{(EPOCH_NS + ns) % 1000:03d}"


def process_id(run: AscendRun, order: int) -> int:
    """Process id that msprof makes for a layer."""
    return (PID << 10) | (order << 5) | run.device
