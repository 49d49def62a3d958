"""TW802: an API of torch that works on the NPU with limits that this call meets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainwright.knowledge.apis import ApiSupport, api
from trainwright.knowledge.dtypes import listed_dtype
from trainwright.migrate.python.placed import stays_on_host
from trainwright.migrate.python.usage import is_use
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

if TYPE_CHECKING:
    from trainwright.migrate.python.module import NameRef, PythonFile

#: Names of `torch.cuda` have a rule of their own; optimizers are made of operators that are judged one by one.
_OTHERS = ("torch.cuda.", "torch.optim.")
#: The lists of the documentation leave out half precision where it is known to work; float64 has a rule of its own.
_NOT_JUDGED = frozenset({"bf16", "fp16", "fp32", "fp64"})


def visit(reference: NameRef, file: PythonFile) -> Iterator[Remark]:
    """A call of an API that falls back to the CPU, or with a data type that the NPU does not take."""
    if reference.call is None or reference.name.startswith(_OTHERS) or not is_use(reference, file):
        return
    if stays_on_host(reference.name, reference.call, file):
        return
    found = api(reference.name, torch=file.options.torch, soc=file.options.soc)
    if found.status == "cpu_fallback" and found.kernel != "registered":
        yield _fallback(found, reference, file)
    elif found.status in {"limited", "renamed"} and found.dtypes:
        yield from _dtype(found, reference.call, file)


def _fallback(found: ApiSupport, reference: NameRef, file: PythonFile) -> Remark:
    start, end = file.span(reference.node)
    return Remark(
        number="TW802", start=start, end=end, title=f"{found.name} may fall back to the CPU",
        detail="The support table notes a fallback: such a call copies its inputs to the host and its result back.",
        advice="Leave it where it runs seldom; in the training step compute it with operators of the NPU.",
        outcome="note", evidence=found.evidence, name=found.name, confidence=reference.confidence,
    )  # fmt: skip


def _dtype(found: ApiSupport, call: ast.Call, file: PythonFile) -> Iterator[Remark]:
    argument = next((keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None)
    resolved = file.resolve(argument) if argument is not None else None
    asked = listed_dtype(resolved.name) if resolved is not None else ""
    if argument is None or not asked or asked in _NOT_JUDGED or asked in found.dtypes:
        return
    start, end = file.span(argument)
    yield Remark(
        number="TW802", start=start, end=end, title=f"{found.name} is not listed for {asked} on the NPU",
        detail=f"The support table lists {', '.join(found.dtypes)}.",
        advice="Compute in one of these data types and convert the result.",
        outcome="manual", minutes=15, evidence=found.evidence, name=found.name,
    )  # fmt: skip


RULE = Rule(
    code="limited-apis",
    number="TW802",
    summary="APIs of torch that fall back to the CPU, or that do not take the data type given.",
    why="A fallback stops the device at each call; a data type that the NPU does not take fails.",
    before="sample = torch.distributions.Dirichlet(alpha).rsample()",
    hooks=(NameHook(names=("torch.*",), visit=visit),),
)
