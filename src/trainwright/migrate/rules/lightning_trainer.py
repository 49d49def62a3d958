"""TW303: the accelerator that a trainer of Lightning is given."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

_PACKAGES = ("lightning", "lightning.pytorch", "pytorch_lightning", "lightning.fabric", "lightning_fabric")
_NAMES = ("Trainer", "Fabric", "trainer.Trainer", "trainer.trainer.Trainer", "fabric.Fabric")
#: Old arguments that ask for GPUs by themselves.
_COUNTS = frozenset({"gpus", "auto_select_gpus"})


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    for keyword in ref.call.keywords if ref.call is not None else ():
        value = file.constant(keyword.value)
        if (keyword.arg == "accelerator" and value in ("gpu", "cuda")) or keyword.arg in _COUNTS:
            yield remark(
                file, keyword.value, number=RULE.number, title=f"{ref.name.rpartition('.')[2]} with {keyword.arg}",
                detail="Lightning looks for CUDA devices and finds none.", name=ref.name, confidence=ref.confidence,
                advice="register an Accelerator of your own for the NPU and pass it, or use accelerate",
                outcome="manual", minutes=120, evidence="pytorch-lightning #19498, PR #19308",
            )  # fmt: skip


RULE = Rule(
    code="lightning-trainer",
    number="TW303",
    summary="A trainer of Lightning is told to use GPUs.",
    why="Lightning has no accelerator for the NPU in its tree; its name for GPUs stands for CUDA.",
    before='Trainer(accelerator="gpu", devices=8)',
    after="Trainer(accelerator=NPUAccelerator(), devices=8)",
    hooks=(NameHook(names=tuple(f"{package}.{name}" for package in _PACKAGES for name in _NAMES), visit=_visit),),
)
