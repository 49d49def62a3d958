"""Atlas A3 (Ascend 910C): one of its two dies is a device."""

from trainwright.emulate.chip import Chip

CHIP = Chip(
    code="a3",
    summary="Atlas A3, a die of Ascend 910C: 64 GiB, bfloat16, Inf and NaN",
    name="Ascend910_9391",
    soc_version=251,
    memory_gib=64,
    cube_cores=24,
    vector_cores=48,
    inf_nan=True,
    bf16=True,
    facts="3",
)
