"""Remarks on environment variables and on the CUDA toolkit in files that are not Python.

A variable is renamed where it is set and where it is read, in the whole file at once or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainwright.knowledge.environment import Variable, npu_variable
from trainwright.migrate.document import Document
from trainwright.migrate.remark import Edit, Remark, Safety
from trainwright.migrate.text.content import Assignment, Command, TextContent, Use, mentions, raw
from trainwright.migrate.text.variables import value_safety

NUMBER = "TW701"
_PRINTS = frozenset({"echo", "printf", "log", "info", "die", "warn", "error", "usage"})
_RANK: dict[Safety, int] = {"safe": 0, "unsafe": 1, "display": 2}
_TOOLKIT = re.compile(r"/usr/local/cuda[-\d.]*(?=[/:\"'\s]|$)")
_SET_UP = (
    "Load the CANN toolkit instead: source set_env.sh of the folder CANN is installed in, such as "
    "/usr/local/Ascend/cann/set_env.sh or /usr/local/Ascend/ascend-toolkit/set_env.sh."
)
_CANN = "CANN documentation, environment variables"


@dataclass
class _Places:
    variable: Variable
    sets: list[Assignment] = field(default_factory=list)
    reads: list[Use] = field(default_factory=list)

    @property
    def spans(self) -> list[tuple[int, int]]:
        places: list[Assignment | Use] = [*self.sets, *self.reads]
        return sorted({(place.start, place.end) for place in places})


def variable_remarks(document: Document) -> Iterator[Remark]:
    """One remark for each variable of the file that the NPU does not read, in order of place."""
    content: TextContent = document.content
    found: dict[str, _Places] = {}
    listed: list[Assignment | Use] = [*content.assignments, *content.uses]
    for place in listed:
        variable = npu_variable(place.name)
        if variable is None:
            continue
        places = found.setdefault(place.name, _Places(variable))
        if isinstance(place, Assignment):
            places.sets.append(place)
        else:
            places.reads.append(place)
    for name, places in sorted(found.items(), key=lambda item: item[1].spans[0]):
        yield _remark(document, name, places)


def _remark(document: Document, name: str, places: _Places) -> Remark:
    variable = places.variable
    start, end = places.spans[0]
    title = f"environment variable {name}" + (f" ({len(places.spans)} places)" if len(places.spans) > 1 else "")
    note = f"About {variable.npu or variable.name}: {variable.note}." if variable.note else ""

    def made(**fields: object) -> Remark:
        return Remark(
            number=NUMBER,
            start=start,
            end=end,
            title=title,
            evidence=variable.evidence,
            name=name,
            **fields,  # type: ignore[arg-type]
        )

    if not variable.npu:
        return made(outcome="note", detail=f"The NPU does not read it; it does no harm. {note}")
    text = raw(document.source)
    if mentions(text, variable.npu):
        return made(outcome="note", detail=f"The file deals with {variable.npu}, too.")
    if document.options.style == "agnostic":
        return made(outcome="manual", minutes=2, advice=f"Set {variable.npu} as well on an Ascend machine. {note}")
    safety, reason = _judged(document, name, places, text)
    if safety == "display":
        return made(outcome="manual", minutes=5, detail=reason, advice=f"Set {variable.npu} instead. {note}")
    edits = tuple(Edit(start=first, end=last, new=variable.npu) for first, last in places.spans)
    return made(safety=safety, edits=edits, detail=reason, advice=note)


def _judged(document: Document, name: str, places: _Places, text: str) -> tuple[Safety, str]:
    """The safety of renaming, and what speaks against it."""
    verdicts: list[tuple[Safety, str]] = [(places.variable.safety, "")]
    for place in places.sets:
        verdicts.append(value_safety(name, place.value if place.literal else None))
    if not places.sets:
        verdicts.append(("unsafe", "The file only reads it: whoever sets it must set the new name."))
    others = _other_mentions(document, name, places, text)
    if others:
        line, _ = document.source.position(others[0])
        verdicts.append(("unsafe", f"The name also stands on line {line}, where it is not known to be the variable."))
    return max(verdicts, key=lambda verdict: _RANK[verdict[0]])


def _other_mentions(document: Document, name: str, places: _Places, text: str) -> list[int]:
    content: TextContent = document.content
    starts = {start for start, _ in places.spans}
    prose = [(command.words[0].start, command.words[-1].end) for command in content.commands if command.name in _PRINTS]
    return [
        at for at in mentions(text, name) if at not in starts and not any(start <= at < end for start, end in prose)
    ]


def toolkit_remarks(document: Document) -> Iterator[Remark]:
    """The CUDA toolkit in commands: modules, the compiler, its folder."""
    content: TextContent = document.content
    seen: set[int] = set()
    for command in content.commands:
        yield from _command(command)
    for place in content.assignments:
        match = _TOOLKIT.search(place.value)
        variable = npu_variable(place.name)
        if match and place.start not in seen and not (variable and variable.npu):
            seen.add(place.start)
            yield _toolkit(place.start, place.value_end, f"{place.name} leads to the CUDA toolkit", match.group())


def _command(command: Command) -> Iterator[Remark]:
    first, last = command.words[0], command.words[-1]
    texts = [word.text for word in command.words]
    loads = (
        len(texts) > 1
        and texts[0] in ("module", "ml")
        and any(re.fullmatch(r"(?i)(?:[\w-]*/)?(?:cuda|cudnn|nccl)(?:[/-].*)?", text) for text in texts[1:])
    )
    if loads and not {"unload", "purge", "rm"} & set(texts):
        yield _toolkit(first.start, last.end, "an environment module of CUDA is loaded", "module")
    elif command.name == "nvcc":
        yield _toolkit(first.start, last.end, "nvcc is called", "nvcc")


def _toolkit(start: int, end: int, title: str, name: str) -> Remark:
    return Remark(
        number=NUMBER,
        start=start,
        end=end,
        title=title,
        detail="There is no CUDA toolkit on an Ascend machine.",
        advice=_SET_UP if name != "nvcc" else "Build for the NPU with the compilers of CANN, or leave this step out.",
        outcome="manual",
        minutes=10 if name != "nvcc" else 60,
        evidence=_CANN,
        name=name,
    )
