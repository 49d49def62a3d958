"""Names of Ascend profilers: what a task is, what the name of a communication operator says."""

from __future__ import annotations

import pytest

from trainwright.trace.ascend_names import (
    HcomName,
    device_kind,
    framework_kind,
    group_id,
    match_group,
    message_bytes,
    parse_hcom,
    step_number,
)


@pytest.mark.parametrize(
    ("task_type", "name", "kind"),
    [
        ("AI_CORE", "aclnnMm_MatMulV2", "kernel"),
        ("MIX_AIV", "aclnnFoo", "kernel"),
        ("DSA_SQE", "aclnnDropoutGenMaskV2_DSAGenBitMask", "kernel"),
        ("AI_CPU", "StatelessDropOutGenMask25", "kernel"),
        ("Other", "Add116", "kernel"),
        ("Other", "atomic_memset-1_271", "kernel"),
        ("AI_CORE", "KERNEL_AICORE", "kernel"),
        ("AI_CORE", "TRANSDATA", "kernel"),
        ("AI_CPU", "KERNEL_AICPU", "other"),
        ("AI_CPU", "hcom_allReduce_AicpuKernel", "comm_task"),
        ("AI_CORE", "allreduce_AivKernel", "comm_task"),
        ("SDMA_SQE", "MEMCPY_ASYNC", "memcpy"),
        ("other", "MemcopyAsync", "memcpy"),
        ("EVENT_WAIT_SQE", "EVENT_WAIT", "sync"),
        ("Notify Wait", "Notify Wait", "comm_task"),
        ("SDMA", "SDMA", "comm_task"),
        ("Other", "NOTIFY_WAIT", "sync"),
        ("Other", "REDUCE_ASYNC_V2", "comm_task"),
        ("EVENT_RECORD_SQE", "EVENT_RECORD", "other"),
        ("PLACE_HOLDER_SQE", "PROFILING_ENABLE", "other"),
        ("Other", "Other", "other"),
        ("UNKNOWN", "Invalidate Data Context", "other"),
        ("", "MsTx_12", "device_annotation"),
    ],
)
def test_kind_of_a_task(task_type: str, name: str, kind: str) -> None:
    assert device_kind(task_type, name) == kind


@pytest.mark.parametrize(
    ("category", "name", "kind"),
    [
        ("cpu_op", "aten::mm", "op"),
        ("cpu_op", "ProfilerStep#12", "step"),
        ("cpu_op", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "dataloader"),
        ("cpu_op", "Optimizer.step#SGD.step", "annotation"),
        ("user_annotation", "my range", "annotation"),
        ("python_function", "model.py(3): forward", "python"),
        ("enqueue", "Enqueue", "queue"),
        ("dequeue", "Dequeue@aclnnMm", "queue"),
        ("", "a range of mstx", "annotation"),
    ],
)
def test_kind_of_a_range_of_the_framework(category: str, name: str, kind: str) -> None:
    assert framework_kind(category, name) == kind


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("hcom_allReduce__586_0_1", HcomName(op="allreduce", suffix="586", seq=0)),
        ("hcom_broadcast__483_12", HcomName(op="broadcast", suffix="483", seq=12)),
        (
            "hcom_batchSendRecv__822_3_1@13337953553061386822",
            HcomName(op="sendrecv", suffix="822", group="13337953553061386822", seq=3),
        ),
        ("hcom_receive__007_1_1", HcomName(op="recv", suffix="007", seq=1)),
        ("allreduce-top1@110", HcomName(op="allreduce")),
        ("aclnnMm", HcomName(op="")),
    ],
)
def test_parts_of_the_name_of_a_communication_operator(name: str, parsed: HcomName) -> None:
    assert parse_hcom(name) == parsed


def test_the_id_of_a_group_is_made_from_its_name() -> None:
    # "ab": 97 * 29 + 98 = 2,911 and 97 * 131 + 98 = 12,805
    assert group_id("ab") == str(2_911 * 2**32 + 12_805)
    assert int(group_id("10.174.216.241%enp189s0f1_55000_0_1738895486152654")) < 2**64


def test_a_suffix_is_resolved_only_when_one_group_fits() -> None:
    assert match_group("586", ["10471851537367425586", "13337953553061386822"]) == "10471851537367425586"
    assert match_group("586", ["1586", "2586"]) == "586"
    assert match_group("586", []) == "586"
    assert match_group("", ["1586"]) == ""


def test_message_size_is_that_of_the_larger_side() -> None:
    assert message_bytes("allreduce", 1_000, "FP32", 8) == 4_000
    assert message_bytes("allgather", 1_000, "BFP16", 8) == 16_000
    assert message_bytes("reducescatter", 1_000, "BFP16", -1) == 2_000
    assert message_bytes("allreduce", -1, "FP32", 8) == -1
    assert message_bytes("allreduce", 10, "RESERVED", 8) == -1


def test_step_numbers() -> None:
    assert [step_number(name) for name in ("ProfilerStep#50", "ProfilerStep # 3", "aten::mm")] == [50, 3, None]
