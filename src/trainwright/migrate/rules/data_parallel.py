"""TW302: one process that drives several devices."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.call is None:
        return  # isinstance checks and annotations run as they are
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title="DataParallel does not work on the NPU",
        name="torch.nn.DataParallel",
        detail="It drives all devices from the threads of one process, which torch_npu does not support.",
        advice="start one process per device with torchrun and wrap the model in "
        "torch.nn.parallel.DistributedDataParallel; with one device leave the wrapper out",
        outcome="blocked",
        confidence=ref.confidence,
        minutes=120,
        evidence="Ascend/pytorch #13",
    )


_NAMES = tuple(
    f"torch.nn.{module}{name}"
    for module in ("", "parallel.", "parallel.data_parallel.")
    for name in ("DataParallel", "data_parallel")
)

RULE = Rule(
    code="data-parallel",
    number="TW302",
    summary="torch.nn.DataParallel is used.",
    why="One process that drives several NPUs by threads is not supported.",
    before="model = torch.nn.DataParallel(model)",
    after="model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])",
    hooks=(NameHook(names=tuple(name for name in _NAMES if name != "torch.nn.parallel.data_parallel"), visit=_visit),),
)
