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
_GPUS = re.compile(
    r"^(?:#(?:SBATCH|BSUB|PBS)|[ \t]*(?:srun|sbatch|salloc|bsub|qsub))\b(?:[^\n]|\\\n)*?"
    r"\s(?P<option>--(?:gres=\S*gpu|gpus)\S*)",
    re.MULTILINE,
)
#: A program on the command line, and what of CUDA it may use.
_INLINE = re.compile(
    r"\bpython[\d.]*\s+(?:-[A-Zbuv]\s+)*-c\s+(?P<quote>[\"'])(?P<code>.*?)(?<!\\)(?P=quote)", re.DOTALL
)
_CUDA_NAME = re.compile(r"\btorch\.cuda(?:\.\w+)?|\.cuda\(\)")
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
        yield from _inline(document)
        yield from _profilers(content)
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


def _inline(document: Document) -> Iterator[Remark]:
    """``python -c "import torch; print(torch.cuda.device_count())"``."""
    for match in _INLINE.finditer(_without_comments(raw(document.source))):
        if found := _CUDA_NAME.search(match.group("code")):
            at = match.start("code") + found.start()
            npu = found[0].replace("cuda", "npu")
            yield Remark(
                number=NUMBER,
                start=at,
                end=at + len(found[0]),
                title=f"{found[0]} on a command line",
                advice=f"Import torch_npu beside torch and write {npu}.",
                outcome="manual",
                minutes=3,
                name=found[0],
            )


def _without_comments(text: str) -> str:
    return re.sub(r"^[ \t]*#[^\n]*", lambda match: " " * len(match[0]), text, flags=re.MULTILINE)


def _profilers(content: TextContent) -> Iterator[Remark]:
    """Programs of NVIDIA that record a run."""
    for command in content.commands:
        words = [word for word in command.words if word.text in ("nsys", "ncu")]
        if words and command.name not in ("echo", "which", "apt", "apt-get", "pip", "conda"):
            yield Remark(
                number=NUMBER,
                start=words[0].start,
                end=words[0].end,
                title=f"{words[0].text} records CUDA devices only",
                advice="Record with msprof, or with torch_npu.profiler inside the program.",
                outcome="manual",
                minutes=10,
                name=words[0].text,
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
