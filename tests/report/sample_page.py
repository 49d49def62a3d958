"""A made-up page like that of a small run: 8 ranks of 4 steps, with one slow rank."""

from __future__ import annotations

from trainwright.core.result import (
    Chart,
    Column,
    Evidence,
    Finding,
    Quality,
    Result,
    Table,
    TableSpec,
    Unit,
    Where,
)
from trainwright.report.renderer import Page

MS = 1_000_000


def column(name: str, unit: Unit, text: str = "") -> Column:
    """A column whose help is its name unless given."""
    return Column(name=name, unit=unit, help=text or name.replace("_", " "))


STEP_TIME = TableSpec(
    name="step_time",
    title="Where the step time goes",
    help="Per rank and step. computing + not_overlapped + free = stage + bubble.",
    columns=(
        column("rank", "id"),
        column("step", "id", "step number"),
        column("computing_ns", "ns", "union of compute tasks"),
        column("communication_ns", "ns", "union of communication operators"),
        column("overlapped_ns", "ns", "communication while something computes"),
        column("not_overlapped_ns", "ns", "communication while nothing computes"),
        column("free_ns", "ns", "neither computing nor communication"),
        column("bubble_ns", "ns", "the pipeline waits for a neighbour"),
        column("stage_ns", "ns", "first to last task, minus the bubble"),
        column("preparing_ns", "ns", "start of the step to its first task"),
        column("memcpy_ns", "ns", "copies and fills within free"),
        column("total_ns", "ns", "preparing + computing + not overlapped + free"),
    ),
    chart=Chart(
        kind="stacked", label=("rank", "step"), values=("computing_ns", "not_overlapped_ns", "free_ns", "preparing_ns")
    ),
    shown=(
        "rank", "step", "total_ns", "computing_ns", "not_overlapped_ns", "overlapped_ns", "free_ns", "bubble_ns",
        "preparing_ns", "memcpy_ns",
    ),
)  # fmt: skip
OPERATORS = TableSpec(
    name="operators",
    title="Operators on the host and the device time they caused",
    help="Per rank and operator name, largest device time first.",
    columns=(
        column("rank", "id"), column("name", "text", "operator"), column("count", "count", "calls"),
        column("self_ns", "ns", "host time outside everything recorded inside the operator"),
        column("device_ns", "ns", "summed duration of the device tasks the operator launched itself"),
        column("share", "share", "part of all device time"),
    ),
    chart=Chart(kind="bars", label=("rank", "name"), values=("device_ns",)),
)  # fmt: skip
KERNELS = TableSpec(
    name="kernels",
    title="Device tasks by name",
    help="Every kernel, communication operator and copy on the device.",
    columns=(
        column("rank", "id"), column("name", "text", "kernel"), column("op_type", "text"),
        column("core_type", "text", "unit that ran it"), column("count", "count"), column("total_ns", "ns"),
        column("min_ns", "ns"), column("max_ns", "ns"),
    ),
    chart=Chart(kind="bars", label=("rank", "name"), values=("total_ns",)),
)  # fmt: skip
MEMORY = TableSpec(
    name="memory",
    title="Peak memory",
    help="Per rank and series: the largest value and when it was first reached.",
    columns=(
        column("rank", "id"), column("series", "text"), column("peak_bytes", "bytes"), column("at_ns", "ns"),
    ),
    chart=Chart(kind="bars", label=("rank", "series"), values=("peak_bytes",)),
)  # fmt: skip
LEAKS = TableSpec(name="leaks", title="Leaks", help="Memory never released.", columns=(column("op", "text"),))

_GEMM = (
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>"
    "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8::Params)"
)
_KERNELS = (
    (_GEMM, "MatMul", "AI_CORE", 96, 41 * MS),
    ("aclnnFlashAttentionScoreGrad_FlashAttentionScoreGrad", "FlashAttentionScoreGrad", "MIX_AIC", 24, 28 * MS),
    ("hcom_allReduce__586_0_1", "allreduce", "HCCL", 12, 22 * MS),
    ("aclnnAdd_AddAiCore_Add", "Add", "AI_VECTOR_CORE", 480, 9 * MS),
    ("<script>alert('kernel')</script>", 'Odd & "quoted"', "AI_CPU", 4, 3 * MS),
)
_OPERATORS = (
    ("aten::mm", 96, 3 * MS, 44 * MS), ("npu::npu_fusion_attention_backward", 24, 2 * MS, 28 * MS),
    ("aten::layer_norm", 48, 1_400_000, 12 * MS), ("aten::add_", 480, 6 * MS, 9 * MS),
    ("aten::copy_", 60, 900_000, 4 * MS), ("aten::item", 8, 17 * MS, 12_345),
)  # fmt: skip


def _step_rows() -> list[tuple[int, ...]]:
    rows = []
    for rank in range(8):
        for step in range(4):
            computing = (132 if rank == 3 else 104) * MS + (rank * 7 + step * 3) * 91_111
            waiting = (8 if rank == 3 else 34) * MS + (step * 5 - rank) * 77_777
            overlapped, free, preparing = 21 * MS, (11 + step) * MS + rank * 123_456, (14 if step == 0 else 3) * MS
            bubble = waiting // 4
            stage = computing + waiting + free - bubble
            total = computing + waiting + free + preparing
            rows.append(
                (rank, step, computing, waiting + overlapped, overlapped, waiting, free, bubble, stage, preparing,
                 free // 5, total)
            )  # fmt: skip
    return rows


def _tables() -> tuple[Table, ...]:
    whole = sum(device for *_, device in _OPERATORS)
    operators = [
        (rank, name, count, own + rank * 1111, device + rank * 54_321, device / whole)
        for rank in range(8)
        for name, count, own, device in _OPERATORS
    ]
    kernels = [
        (rank, name, kind, core, count, total + rank * 12_345, total // count // 2, total // count * 2)
        for rank in range(8)
        for name, kind, core, count, total in _KERNELS
    ]
    memory = [(rank, "npu:0 reserved", (52 << 30) + rank * (1 << 28), 1_736_412_474_725_417_508) for rank in range(8)]
    return (
        STEP_TIME.table(_step_rows()),
        OPERATORS.table(operators),
        KERNELS.table(kernels),
        MEMORY.table(memory),
        LEAKS.table([]),
    )


def sample_page(top: int | None = 10) -> Page:
    """The page; `top` rows of each table are shown at first."""
    tables = _tables()
    findings = (
        Finding(
            code="slow-rank",
            severity="error",
            title="Rank 3 computes 27 % longer than the others, which wait for it",
            detail="In every step ranks 0-2 and 4-7 wait 26 ms in allreduce until rank 3 arrives.",
            advice="Look at the clock and temperature of the device of rank 3, then at the size of its batch.",
            saving_ns=26 * MS,
            where=Where(rank=3, step=1, op="hcom_allReduce__586_0_1"),
            evidence=Evidence(table="step_time", rows=tuple(tables[0].rows[12:16])),
        ),
        Finding(
            code="sync-in-step",
            severity="warning",
            title="aten::item waits for the device 8 times a step",
            detail="Each call stops the host until all launched work is done.",
            advice="Keep the loss on the device and read it every 100 steps.",
            saving_ns=17 * MS,
            where=Where(op="aten::item", file="train.py", line=212, column=9),
        ),
        Finding(code="unfused-add", severity="info", title="480 small Add kernels", advice="Try a fused optimizer."),
    )
    quality = (
        Quality(code="clipped-event", count=17, example="dur < 0", file="rank3/trace_view.json", offset=9_182_736),
        Quality(code="unknown-flow", count=1204, example="id 7264539812345678901", file="rank0/trace_view.json"),
        Quality(code="truncated-file", count=1, example="ends inside an event", file="rank5/trace_view.json"),
    )
    return Page(
        command="analyze",
        title="Where the time goes",
        subtitle="./profiles/llama-70b: 8 rank(s)",
        result=Result(tables=tables, findings=findings, quality=quality, extra={"store": "cache"}),
        top=top,
        next_steps=("trainwright advise ./profiles/llama-70b", "trainwright view ./profiles/llama-70b"),
    )
