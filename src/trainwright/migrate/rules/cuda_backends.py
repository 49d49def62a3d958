"""TW107: the version and the switches of CUDA and cuDNN."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Outcome, Remark
from trainwright.migrate.rule import NameHook, Rule

#: Name -> (outcome, detail, advice, minutes). The longest name that fits counts.
_KNOWN: dict[str, tuple[Outcome, str, str, int]] = {
    "torch.version.cuda": (
        "manual",
        "It is None in a torch without CUDA: parsing or comparing it fails.",
        "guard the use, or take the version of CANN where the branch is about the toolkit",
        10,
    ),
    "torch.backends.cudnn.deterministic": (
        "note",
        "It has no effect on the NPU.",
        "torch.use_deterministic_algorithms(True) is what the NPU obeys",
        0,
    ),
    "torch.backends.cudnn.benchmark": ("note", "It has no effect on the NPU.", "", 0),
    "torch.backends.cudnn.enabled": ("note", "It has no effect on the NPU.", "", 0),
    "torch.backends.cudnn.version": (
        "manual",
        "It is None in a torch without cuDNN: comparing it fails.",
        "guard the use",
        5,
    ),
    "torch.backends.cudnn": ("note", "cuDNN does not exist on the NPU; setting its switches does nothing.", "", 0),
    "torch.backends.cuda.sdp_kernel": (
        "manual",
        "The choice among CUDA kernels of attention has no counterpart.",
        "remove the context manager: scaled_dot_product_attention chooses the NPU kernel itself",
        10,
    ),
    "torch.backends.cuda.is_built": ("manual", "It is False on an Ascend machine.", "ask torch.npu.is_available()", 5),
    "torch.backends.cuda": ("note", "A switch of CUDA; it has no effect on the NPU.", "", 0),
}
#: Owned by the rule on TF32.
_ELSEWHERE = ("allow_tf32", "fp32_precision")


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.name.endswith(_ELSEWHERE):
        return
    known = max((name for name in _KNOWN if ref.name == name or ref.name.startswith(f"{name}.")), key=len)
    outcome, detail, advice, minutes = _KNOWN[known]
    if known == "torch.version.cuda" and _is_question(ref, file):
        outcome, detail, advice, minutes = "note", "It is None in a torch without CUDA, which does no harm here.", "", 0
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title=ref.name,
        name=ref.name,
        detail=detail,
        advice=advice,
        outcome=outcome,
        confidence=ref.confidence,
        minutes=minutes,
    )


def _is_question(ref: NameRef, file: PythonFile) -> bool:
    """``torch.version.cuda is not None``, ``if torch.version.cuda``, printing it: None is fine there."""
    above = file.parent(ref.node)
    if isinstance(above, ast.Compare):
        return all(isinstance(side, ast.Constant) and side.value is None for side in above.comparators)
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in ("print", "str", "bool"):
        return True
    return isinstance(above, ast.If | ast.IfExp | ast.FormattedValue | ast.BoolOp | ast.UnaryOp)


RULE = Rule(
    code="cuda-backends",
    number="TW107",
    summary="The version or a switch of CUDA or cuDNN is used.",
    why="torch on an Ascend machine has neither CUDA nor cuDNN: versions are None, switches do nothing.",
    before='if torch.version.cuda >= "12": ...',
    after='if torch.version.cuda is not None and torch.version.cuda >= "12": ...',
    hooks=(NameHook(names=("torch.version.cuda", "torch.backends.cudnn.*", "torch.backends.cuda.*"), visit=_visit),),
)
