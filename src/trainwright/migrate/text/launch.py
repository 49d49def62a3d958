"""Arguments that scripts pass to programs: ``--device cuda``, ``--backend=nccl``, ``trainer.device=cuda:0``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainwright.migrate.document import Document
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.text.content import TextContent, Word
from trainwright.migrate.text.roles import Role, npu_value, role_of

NUMBER = "TW705"
#: Programs whose arguments are not those of a training program.
_OTHERS = frozenset(
    {"echo", "printf", "grep", "egrep", "sed", "awk", "cmake", "make", "ninja", "git", "pip", "pip3", "conda", "apt"}
    | {"apt-get", "yum", "dnf", "curl", "wget", "find", "cp", "mv", "rm", "mkdir", "cd", "export", "test", "[", "[["}
)


@dataclass(frozen=True, kw_only=True)
class _Argument:
    """A value that an option or a dotted key is given, and its bytes."""

    name: str
    value: str
    start: int


def argument_remarks(document: Document) -> Iterator[Remark]:
    """The arguments of all commands and argument strings that name a CUDA device or NCCL."""
    content: TextContent = document.content
    for command in content.commands:
        if command.name not in _OTHERS:
            yield from _in_words(command.words, document)
    for assignment in content.assignments:
        if len(assignment.words) > 1 or "=" in assignment.value:
            yield from _in_words(assignment.words, document)


def _in_words(words: Sequence[Word], document: Document) -> Iterator[Remark]:
    for argument in _arguments(words):
        role, spelled = role_of(argument.name, document.project), npu_value(argument.value)
        if role is not None and spelled is not None and spelled[0] == role.kind:
            yield _remark(argument, role, spelled[1], document)


def _arguments(words: Sequence[Word]) -> Iterator[_Argument]:
    for position, word in enumerate(words):
        if word.inner < 0:
            continue
        name, equals, value = word.text.partition("=")
        if equals and position and (name.startswith("-") or _is_key(name)):
            short = name if name.startswith("-") else name.lstrip("+~").rpartition(".")[2]
            yield _Argument(name=short, value=value, start=word.inner + len(name) + 1)
        elif word.text.startswith("-") and not equals:
            following = words[position + 1] if position + 1 < len(words) else None
            if following is not None and following.inner >= 0 and following.literal:
                yield _Argument(name=word.text, value=following.text, start=following.inner)


def _is_key(name: str) -> bool:
    """A key of an override such as ``trainer.device=cuda``."""
    return name.lstrip("+~").replace(".", "").replace("_", "").replace("-", "").isalnum()


def _remark(argument: _Argument, role: Role, new: str, document: Document) -> Remark:
    end = argument.start + len(argument.value)
    title = f"{argument.name} {argument.value}"
    style = document.options.style
    if style == "npu":
        return Remark(
            number=NUMBER,
            start=argument.start,
            end=end,
            title=title,
            detail="" if role.declared else "No code of the project is known to declare this option.",
            safety="safe" if role.declared else "unsafe",
            confidence="inferred",
            edits=(Edit(start=argument.start, end=end, new=new),),
            name=argument.name,
        )
    return Remark(
        number=NUMBER,
        start=argument.start,
        end=end,
        title=title,
        advice="" if style == "shim" else f"Pass {new} on an Ascend machine, or leave the choice to the program.",
        outcome="note" if style == "shim" else "manual",
        minutes=0 if style == "shim" else 2,
        confidence="inferred",
        name=argument.name,
    )
