"""Calls of nvidia-smi, in scripts and in strings that Python runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainwright.migrate.document import Document
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.text.content import Command, TextContent, Word

NUMBER = "TW702"
PROGRAM = "nvidia-smi"
EVIDENCE = "CANN asc-devkit documentation (npu-smi info)"
#: Programs that run another one; with options that take a value.
_WRAPPERS = frozenset({"sudo", "watch", "time", "timeout", "nohup", "srun", "exec", "command", "env", "nice", "xargs"})
_ASKS = frozenset({"which", "command", "type", "hash", "where"})
_COUNT = "To count devices, count the files /dev/davinci[0-9]*, or call torch.npu.device_count()."
_ADVICE = (
    ("topo", "npu-smi info -t topo shows how the devices are connected."),
    ("-L", f"npu-smi info -l lists the devices. {_COUNT}"),
    ("--list-gpus", f"npu-smi info -l lists the devices. {_COUNT}"),
    ("--query-compute-apps", "npu-smi info -t proc-mem -i ID lists the processes of a device."),
)
_GENERAL = "npu-smi info prints a table of its own form, and its options differ: change what reads the output, too."


def smi_remarks(document: Document) -> Iterator[Remark]:
    """Every call of nvidia-smi in the commands of a document."""
    content: TextContent = document.content
    for command in content.commands:
        at = _position(command.words)
        if at is not None:
            yield _remark(command, at)


def _position(words: Sequence[Word]) -> int | None:
    """Where the program stands: first, or behind programs that run another."""
    for position, word in enumerate(words):
        if word.text.rpartition("/")[2] == PROGRAM:
            return position
        wrapper = word.text.rpartition("/")[2] in _WRAPPERS | _ASKS
        if not (wrapper or (position and (word.text.startswith("-") or word.text.replace(".", "").isdecimal()))):
            return None
    return None


def _remark(command: Command, at: int) -> Remark:
    words = command.words
    program, last = words[at], words[-1]
    lead = [word.text for word in words[:at]]
    if lead and lead[0] in _ASKS and ("-v" in lead or lead[0] != "command"):
        return _asked(program)
    plain = at == len(words) - 1 and not command.captured and not command.piped
    if plain and program.text == PROGRAM:
        return Remark(
            number=NUMBER,
            start=program.start,
            end=program.end,
            title=PROGRAM,
            safety="safe",
            edits=(Edit(start=program.start, end=program.end, new="npu-smi info"),),
            evidence=EVIDENCE,
            name=PROGRAM,
        )
    arguments = [word.text for word in words[at + 1 :]]
    return Remark(
        number=NUMBER,
        start=program.start,
        end=last.end,
        title=" ".join([PROGRAM, *arguments[:1]]).partition("=")[0],
        advice=smi_advice(arguments),
        outcome="manual",
        minutes=15,
        evidence=EVIDENCE,
        name=PROGRAM,
    )


def _asked(program: Word) -> Remark:
    return Remark(
        number=NUMBER,
        start=program.start,
        end=program.end,
        title=f"the script asks whether {PROGRAM} is there",
        detail="On an Ascend machine it is not, and the other way is taken.",
        advice="Ask for npu-smi instead, and look at what the answer decides.",
        safety="unsafe",
        edits=(Edit(start=program.start, end=program.end, new="npu-smi"),),
        evidence=EVIDENCE,
        name=PROGRAM,
    )


def smi_advice(arguments: Sequence[str]) -> str:
    """What to call instead, by the arguments."""
    known = next((text for start, text in _ADVICE if any(argument.startswith(start) for argument in arguments)), "")
    return known or _GENERAL
