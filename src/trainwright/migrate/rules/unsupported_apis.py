"""TW801: an API of torch that the support table of torch_npu lists as not supported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainwright.knowledge.apis import ApiSupport, api
from trainwright.migrate.python.usage import is_use
from trainwright.migrate.remark import Confidence, Remark
from trainwright.migrate.rule import MethodHook, NameHook, Rule

if TYPE_CHECKING:
    from trainwright.migrate.python.module import NameRef, PythonFile

#: Names that rules of their own speak of.
_OTHERS = (
    "torch.cuda", "torch.backends", "torch.version", "torch.compile", "torch.compiler", "torch.profiler",
    "torch.autograd.profiler", "torch.nn.DataParallel", "torch.nn.parallel.data_parallel", "torch.utils.cpp_extension",
)  # fmt: skip
#: Names of other accelerators say nothing about CUDA.
_OTHER_DEVICES = frozenset({"hpu", "ipu", "is_hpu", "mps", "xpu"})
#: Methods of tensors whose lack is certain: these are looked for on values known to be tensors.
_METHODS = ("mode", "sspaddmm", "to_sparse", "to_sparse_bsc", "to_sparse_bsr", "to_sparse_csc", "to_sparse_csr")


def visit_name(reference: NameRef, file: PythonFile) -> Iterator[Remark]:
    """A use of an API of this name."""
    if reference.confidence != "resolved" or reference.name.startswith(_OTHERS) or not is_use(reference, file):
        return
    found = api(reference.name, torch=file.options.torch, soc=file.options.soc)
    if found.status != "unsupported" or found.name.startswith(_OTHERS):
        return
    if found.name.rpartition(".")[2] not in _OTHER_DEVICES:
        yield _remark(found, reference.node, file, "resolved")


def visit_method(node: ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    """A call of a method of this name on a tensor."""
    if file.call_of(node) is None or file.kind(node.value) != "tensor":
        return
    found = api(f"torch.Tensor.{node.attr}", torch=file.options.torch, soc=file.options.soc)
    if found.status == "unsupported" and not found.doubt:
        yield _remark(found, node, file, "inferred")


def _remark(found: ApiSupport, node: ast.AST, file: PythonFile, confidence: Confidence) -> Remark:
    start, end = file.span(node)
    lack = " No kernel for it is registered." if found.kernel == "missing" else ""
    if not found.doubt:
        # A method is called on one tensor, which may well be on the CPU: then nothing is blocked.
        return Remark(
            number="TW801", start=start, end=end, title=f"{found.name} is not supported on the NPU",
            detail=f"The support table says no for torch {file.options.torch} on {file.options.soc}.{lack}",
            advice="Compute it with supported operators, or move its inputs to the CPU for this step.",
            outcome="blocked" if confidence == "resolved" else "manual", minutes=60, evidence=found.evidence,
            name=found.name, confidence=confidence,
        )  # fmt: skip
    runs = found.doubt.startswith("it runs on the host")
    return Remark(
        number="TW801", start=start, end=end, title=f"{found.name} is listed as not supported, but may work",
        detail=f"The support table says no for torch {file.options.torch} on {file.options.soc}, yet {found.doubt}.",
        advice="Run it once on the NPU and compare its result with the CPU.",
        outcome="note" if runs else "manual", minutes=0 if runs else 10, evidence=found.evidence, name=found.name,
        confidence=confidence,
    )  # fmt: skip


RULE = Rule(
    code="unsupported-apis",
    number="TW801",
    summary="APIs of torch that the NPU does not support.",
    why="The call fails on the NPU, or leaves it: nobody vouches for the result.",
    before="noise = torch.poisson(rates)",
    hooks=(NameHook(names=("torch.*",), visit=visit_name), MethodHook(attributes=_METHODS, visit=visit_method)),
)
