"""TW401: torch.compile and its modes."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

#: Classes of arguments that switch it on.
_ARGUMENTS = tuple(
    f"{module}.{name}"
    for module in ("transformers", "transformers.training_args", "trl")
    for name in ("TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "GRPOConfig")
)
_GRAPHS = frozenset({"reduce-overhead", "max-autotune"})


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.call is None and not _decorates(ref, file):
        return
    given = {keyword.arg: file.constant(keyword.value) for keyword in (ref.call.keywords if ref.call else [])}
    if given.get("disable") is True or given.get("backend") in ("eager", "aot_eager", "npu"):
        return
    mode = given.get("mode")
    graphs = f" The mode {mode!r} records CUDA graphs." if mode in _GRAPHS else ""
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title="torch.compile with the default compiler" if not graphs else f"torch.compile(mode={mode!r})",
        name="torch.compile",
        detail="The default backend, Inductor, generates Triton kernels; on the NPU that needs triton-ascend." + graphs,
        advice="run without compile first; then pass a backend of torchair: "
        "torchair.get_npu_backend(), or install triton-ascend for Inductor",
        outcome="manual",
        confidence=ref.confidence,
        minutes=30,
        evidence="torch_npu notes on backends of torch.compile",
    )


def _argument(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    """``TrainingArguments(torch_compile=True)``."""
    given = {keyword.arg: keyword.value for keyword in (ref.call.keywords if ref.call else [])}
    asked = given.get("torch_compile")
    if asked is not None and file.constant(asked) is True and "torch_compile_backend" not in given:
        yield remark(
            file, asked, number=RULE.number, title="torch_compile with the default compiler", name=ref.name,
            detail="The default backend, Inductor, generates Triton kernels; on the NPU that needs triton-ascend.",
            advice="run without it first; then name a backend in torch_compile_backend", outcome="manual", minutes=30,
            confidence=ref.confidence, evidence="torch_npu notes on backends of torch.compile",
        )  # fmt: skip


def _decorates(ref: NameRef, file: PythonFile) -> bool:
    above = file.parent(ref.node)
    return ref.node in getattr(above, "decorator_list", ())


RULE = Rule(
    code="torch-compile",
    number="TW401",
    summary="torch.compile is used.",
    why="Its default compiler generates Triton code for CUDA devices; on the NPU another backend or triton-ascend is "
    "needed.",
    before="model = torch.compile(model)",
    after="model = torch.compile(model, backend=torchair.get_npu_backend())",
    hooks=(NameHook(names=("torch.compile",), visit=_visit), NameHook(names=_ARGUMENTS, visit=_argument)),
)
