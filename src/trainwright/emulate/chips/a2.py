"""Atlas A2 (Ascend 910B): the default."""

from trainwright.emulate.chip import Chip

CHIP = Chip(
    code="a2",
    summary="Atlas A2, Ascend 910B: 64 GiB, bfloat16, Inf and NaN",
    name="Ascend910B3",
    soc_version=222,
    memory_gib=64,
    cube_cores=20,
    vector_cores=40,
    inf_nan=True,
    bf16=True,
    facts="2",
)
