"""TW508: paged and 8-bit optimizers of bitsandbytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, replace, word_edit
from trainwright.migrate.python.given import given_to
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.python.style import torch_visible
from trainwright.migrate.python.usage import is_own_package, is_use
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import NameHook, Rule, StringHook

_EVIDENCE = "bitsandbytes PR #1422, #1442"
_WHY = "bitsandbytes has no paged and no 8-bit optimizers for the NPU."
_MEMORY = "its state stays in the memory of the device, in the precision of the parameters"
#: Names of transformers for optimizers of bitsandbytes -> the same update rule of torch; empty where torch has none.
_NAMES = {
    "adamw_bnb_8bit": "adamw_torch", "adamw_8bit": "adamw_torch", "paged_adamw_8bit": "adamw_torch",
    "paged_adamw_32bit": "adamw_torch", "paged_adamw": "adamw_torch", "rmsprop_bnb": "rmsprop",
    "rmsprop_bnb_8bit": "rmsprop", "rmsprop_bnb_32bit": "rmsprop", "lion_8bit": "", "lion_32bit": "",
    "paged_lion_8bit": "", "paged_lion_32bit": "", "ademamix": "", "ademamix_8bit": "", "paged_ademamix_8bit": "",
    "paged_ademamix_32bit": "",
}  # fmt: skip
_CLASS = re.compile(r"(?:Paged)?(AdamW|Adam|SGD|RMSprop|Adagrad|LAMB|LARS|Lion|AdEMAMix)(?:8bit|32bit)?")
#: Classes with an equal in torch -> the arguments that both take, in one order at the front.
_TORCH = {
    "AdamW": ("params", "lr", "betas", "eps", "weight_decay", "amsgrad"),
    "Adam": ("params", "lr", "betas", "eps", "weight_decay", "amsgrad"),
    "SGD": ("params", "lr", "momentum", "dampening", "weight_decay", "nesterov"),
    "RMSprop": ("params", "lr", "alpha", "eps", "weight_decay", "momentum", "centered"),
}


def _visit(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    instead = _NAMES.get(ref.value)
    if instead is None or "optim" not in given_to(file, ref.node).lower():
        return
    edit = word_edit(file, ref.node, ref.value, instead) if instead else None
    yield _remark(file, ref, f'optimizer "{ref.value}"', instead, edit)


def _class(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    last = ref.name.rpartition(".")[2]
    match = _CLASS.fullmatch(last)
    if is_own_package(ref.name, file) or not is_use(ref, file):
        return
    if match is None:
        yield from _manager(ref, file)
        return
    base = match.group(1)
    fits = base in _TORCH and _fits(ref, _TORCH[base]) and torch_visible(file, ref.node)
    edit = replace(file, ref.node, f"torch.optim.{base}") if fits else None
    yield _remark(file, ref, f"{last} of bitsandbytes", f"torch.optim.{base}" if base in _TORCH else "", edit)


def _fits(ref: NameRef, taken: tuple[str, ...]) -> bool:
    """Whether the arguments of the call, if it is one here, mean the same in torch."""
    call = ref.call
    return call is None or all(keyword.arg in taken for keyword in call.keywords)


def _manager(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if ref.name.rpartition(".")[2] != "GlobalOptimManager" and ".GlobalOptimManager." not in ref.name:
        return
    yield remark(
        file, ref.node, number=RULE.number, title="GlobalOptimManager of bitsandbytes", name=ref.name,
        advice="remove it together with the 8-bit optimizer it is for", outcome="manual", confidence=ref.confidence,
        minutes=5, evidence=_EVIDENCE,
    )  # fmt: skip


def _remark(file: PythonFile, ref: StringRef | NameRef, title: str, instead: str, edit: Edit | None) -> Remark:
    confidence = ref.confidence if isinstance(ref, NameRef) else "inferred"
    other = "use an optimizer of torch.optim: this update rule is not among them, so the learning rate needs a search"
    advice = f"use {instead}; {_MEMORY}" if instead else other
    name = "bitsandbytes" if isinstance(ref, StringRef) else ref.name
    if edit is None or file.options.style == "shim":
        return remark(
            file, ref.node, number=RULE.number, title=title, name=name, detail=_WHY, advice=advice, outcome="manual",
            confidence=confidence, minutes=10 if instead else 60, evidence=_EVIDENCE,
        )  # fmt: skip
    return remark(
        file, ref.node, number=RULE.number, title=title, name=name, detail=_WHY, advice=advice, safety="unsafe",
        confidence=confidence, edits=(edit,), evidence=_EVIDENCE,
    )  # fmt: skip


RULE = Rule(
    code="paged-optimizers",
    number="TW508",
    summary="An 8-bit or paged optimizer of bitsandbytes is used.",
    why="These optimizers are CUDA kernels. The same update rules of torch run on the NPU and need more memory.",
    before='TrainingArguments(output, optim="paged_adamw_32bit")',
    after='TrainingArguments(output, optim="adamw_torch")',
    safety="unsafe",
    hooks=(
        StringHook(words=tuple(_NAMES), visit=_visit),
        NameHook(names=("bitsandbytes.optim.*",), visit=_class),
    ),
)
