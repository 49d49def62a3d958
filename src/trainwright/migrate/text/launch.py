"""Remarks on devices and backends that scripts pass on, directly or through a variable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from trainwright.migrate.document import Document
from trainwright.migrate.remark import Edit, Remark, Safety
from trainwright.migrate.text.arguments import Passed, arguments_of
from trainwright.migrate.text.content import Assignment, TextContent, raw
from trainwright.migrate.text.roles import Role, npu_value, role_of

NUMBER = "TW705"
#: Options in the head of a job script.
_GPUS = re.compile(r"^#(?:SBATCH|BSUB|PBS)[^\n]*?\s(?P<option>--(?:gres=\S*gpu|gpus)\S*)", re.MULTILINE)
#: ``$NAME``, ``${NAME}``, ``${NAME:-value}``.
_EXPANSION = re.compile(r"\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?::?[-=](?P<default>[^{}$]*))?\})")
_UNKNOWN = "No code of the project is known to declare this option."
_ELSEWHERE = "The variable is also used for something else."


@dataclass(frozen=True, kw_only=True)
class _Value:
    """A device or backend as written: where, and what is known of its role."""

    name: str
    text: str
    start: int
    role: Role


def argument_remarks(document: Document) -> Iterator[Remark]:
    """Arguments, and variables that end up in arguments, that name a CUDA device or NCCL."""
    content: TextContent = document.content
    if document.language == "shell":
        yield from _job_options(document)
    taken: dict[str, Role] = {}
    passed: Counter[str] = Counter()
    text = raw(document.source)
    for argument in arguments_of(content, text):
        role = role_of(argument.name, document.project)
        if role is None:
            continue
        yield from _direct(argument, role, document)
        if variable := _variable(argument.value):
            taken[variable] = role if variable not in taken or not role.declared else taken[variable]
            passed[variable] += 1
    uses = Counter(use.name for use in content.uses)
    for assignment in content.assignments:
        if text[assignment.value_start : assignment.value_end] == assignment.value:
            alone = uses[assignment.name] == passed[assignment.name]
            yield from _assigned(assignment, taken.get(assignment.name), document, alone=alone)


def _variable(value: str) -> str:
    match = _EXPANSION.fullmatch(value)
    return (match.group("plain") or match.group("name")) if match else ""


def _job_options(document: Document) -> Iterator[Remark]:
    """What a job asks its scheduler for."""
    for match in _GPUS.finditer(raw(document.source)):
        yield Remark(
            number=NUMBER,
            start=match.start("option"),
            end=match.end(),
            title=f"{match.group('option')} asks the scheduler for GPUs",
            advice="Ask for NPUs by the name under which your cluster offers them.",
            outcome="manual",
            minutes=5,
            name=match.group("option").partition("=")[0],
        )


def _literal(value: str, start: int) -> tuple[str, int]:
    """The value itself, or the default in ``${NAME:-value}``, and its first byte."""
    match = _EXPANSION.fullmatch(value)
    if match and match.group("default"):
        return match.group("default"), start + match.start("default")
    return value, start


def _direct(argument: Passed, role: Role, document: Document) -> Iterator[Remark]:
    text, start = _literal(argument.value, argument.start)
    doubt = "" if role.declared else _UNKNOWN
    yield from _remark(_Value(name=argument.name, text=text, start=start, role=role), document, doubt)


def _assigned(assignment: Assignment, role: Role | None, document: Document, *, alone: bool) -> Iterator[Remark]:
    """``DEVICE=cuda``: what becomes of it decides, else its name."""
    passed = role is not None
    role = role or role_of(assignment.name.lower(), document.project)
    if role is None:
        return
    text, start = _literal(assignment.value, assignment.value_start)
    doubt = _UNKNOWN if not passed or not role.declared else "" if alone else _ELSEWHERE
    yield from _remark(_Value(name=assignment.name, text=text, start=start, role=role), document, doubt)


def _remark(value: _Value, document: Document, doubt: str) -> Iterator[Remark]:
    spelled = npu_value(value.text)
    if spelled is None or spelled[0] != value.role.kind:
        return
    style = document.options.style
    advice, minutes = "", 0
    safety: Safety = "display"
    edits: tuple[Edit, ...] = ()
    if style == "npu":
        safety = "unsafe" if doubt else "safe"
        edits = (Edit(start=value.start, end=value.start + len(value.text), new=spelled[1]),)
    elif style == "agnostic":
        advice, minutes = f"Pass {spelled[1]} on an Ascend machine, or leave the choice to the program.", 2
    yield Remark(
        number=NUMBER,
        start=value.start,
        end=value.start + len(value.text),
        title=f"{value.name} {value.text}",
        detail=doubt if edits else "",
        advice=advice,
        outcome="replaced" if edits else "manual" if minutes else "note",
        safety=safety,
        confidence="inferred",
        edits=edits,
        minutes=minutes,
        name=value.name,
    )
