"""Arguments that scripts pass to programs: ``--device cuda``, ``--backend=nccl``, ``trainer.device=cuda:0``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainwright.migrate.text.content import TextContent, Word

#: Programs whose arguments are not those of a training program.
_OTHERS = frozenset(
    {"echo", "printf", "grep", "egrep", "sed", "awk", "cmake", "make", "ninja", "git", "pip", "pip3", "conda", "apt"}
    | {"apt-get", "yum", "dnf", "curl", "wget", "find", "cp", "mv", "rm", "mkdir", "cd", "export", "test", "[", "[["}
)


@dataclass(frozen=True, kw_only=True)
class Passed:
    """A value that an option or a dotted key is given, as it is written, and its first byte."""

    name: str
    value: str
    start: int

    @property
    def end(self) -> int:
        """The byte behind the value."""
        return self.start + len(self.value)


def arguments_of(content: TextContent, text: str) -> Iterator[Passed]:
    """The arguments of all commands, and of variables that hold argument strings or lists; `text` is raw."""
    for command in content.commands:
        if command.name not in _OTHERS:
            yield from _in_words(command.words, text)
    for assignment in content.assignments:
        if len(assignment.words) > 1 or "=" in assignment.value:
            yield from _in_words(assignment.words, text)


def _in_words(words: Sequence[Word], text: str) -> Iterator[Passed]:
    for position, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        if equals and (name.startswith("-") or (position and _is_key(name))):
            short = name if name.startswith("-") else name.lstrip("+~").rpartition(".")[2]
            if (start := _value_start(word, name, value, text)) >= 0:
                yield Passed(name=short, value=value, start=start)
        elif word.text.startswith("-") and not equals:
            following = words[position + 1] if position + 1 < len(words) else None
            if following is not None and following.inner >= 0:
                yield Passed(name=word.text, value=following.text, start=following.inner)


def _value_start(word: Word, name: str, value: str, text: str) -> int:
    """First byte of the value in ``name=value`` or ``name="value"``; -1 when it is written in another way."""
    if word.inner >= 0:
        return word.inner + len(name) + 1
    for quote in "'\"":
        if text[word.start : word.end] == f"{name}={quote}{value}{quote}":
            return word.start + len(name) + 2
    return -1


def _is_key(name: str) -> bool:
    """A key of an override such as ``trainer.device=cuda``."""
    return name.lstrip("+~").replace(".", "").replace("_", "").replace("-", "").isalnum()
