"""Ascend 910A (Atlas 800 training server): no bfloat16, and overflow saturates."""

from trainwright.emulate.chip import Chip

CHIP = Chip(
    code="a910a",
    summary="Ascend 910A: 32 GiB, no bfloat16, overflow saturates",
    name="Ascend910A",
    soc_version=104,
    memory_gib=32,
    cube_cores=32,
    vector_cores=32,
    inf_nan=False,
    bf16=False,
    facts="",
)
