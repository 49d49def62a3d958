"""Words of a shell command: which of them are assignments or names of variables, and which are the command."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from trainwright.migrate.text.content import Assignment, Use, Word

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Builtins whose arguments are variables.
_DECLARE = frozenset({"export", "declare", "local", "readonly", "typeset", "unset"})
#: Options of container programs and launchers that take ``NAME=value`` or ``NAME``.
_ENVIRONMENT = frozenset({"-e", "--env", "-x", "-genv", "--build-arg"})
_RUNNERS = frozenset({"docker", "podman", "nerdctl", "mpirun", "mpiexec", "horovodrun", "singularity", "apptainer"})
#: A word of a quoted argument string; quotes inside belong to it.
_PIECE = re.compile(r"[^\s\\]+")

Parts = tuple[list[Assignment], list[Use], list[Word]]


def command_parts(words: Sequence[Word], text: str) -> Parts:
    """Assignments, named variables, and the words of the command itself."""
    assignments: list[Assignment] = []
    at = 0
    while at < len(words) and (found := assignment(words[at], text)):
        assignments.append(found)
        at += 1
    rest = list(words[at:])
    uses: list[Use] = []
    name = rest[0].text.rpartition("/")[2] if rest else ""
    if name in _DECLARE:
        for word in rest[1:]:
            _declared(word, text, assignments, uses)
    elif name == "env":
        assignments += [found for word in rest[1:] if (found := assignment(word, text))]
        uses += [_named(word) for before, word in itertools.pairwise(rest) if before.text == "-u"]
    elif name in _RUNNERS:
        for before, word in itertools.pairwise(rest):
            if before.text in _ENVIRONMENT:
                _declared(word, text, assignments, uses)
            elif word.text.startswith("--env="):
                _declared(_shortened(word, len("--env=")), text, assignments, uses)
    return assignments, uses, rest


def _shortened(word: Word, lead: int) -> Word:
    inner = word.inner + lead if word.inner >= 0 else -1
    return Word(text=word.text[lead:], start=word.start + lead, end=word.end, inner=inner, literal=word.literal)


def _declared(word: Word, text: str, assignments: list[Assignment], uses: list[Use]) -> None:
    if found := assignment(word, text):
        assignments.append(found)
    elif word.literal and _NAME.fullmatch(word.text) and word.inner >= 0:
        uses.append(_named(word))


def _named(word: Word) -> Use:
    inner = max(word.inner, word.start)
    return Use(name=word.text, start=inner, end=inner + len(word.text))


def assignment(word: Word, text: str) -> Assignment | None:
    """``NAME=value`` as one word, quoted as a whole or only in the value; None when the word is none."""
    match = _ASSIGNED.match(word.text)
    if not match:
        return None
    name = match.group(1)
    begin = word.start if text.startswith(name, word.start) else word.start + 1
    if not text.startswith(match.group(), begin):
        return None
    value_start = begin + match.end()
    value_end = word.end if begin == word.start else word.end - 1
    quoted = value_end - value_start > 1 and text[value_start] in "'\"" and text[value_end - 1] == text[value_start]
    inner = (value_start + 1, value_end - 1) if quoted else (value_start, value_end)
    return Assignment(
        name=name,
        start=begin,
        end=begin + len(name),
        value=word.text[match.end() :],
        value_start=inner[0],
        value_end=inner[1],
        literal=word.literal,
        words=tuple(pieces(text, *inner)),
    )


def pieces(text: str, start: int, end: int) -> list[Word]:
    """The words of an argument string or of a list in parentheses."""
    if text[start : start + 1] == "(":
        start, end = start + 1, end - 1
    found = []
    for match in _PIECE.finditer(text, start, end):
        word, first = match.group(), match.start()
        quoted = len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]
        value = word[1:-1] if quoted else word
        found.append(
            Word(
                text=value,
                start=first,
                end=match.end(),
                inner=first + quoted,
                literal="$" not in value and "`" not in value,
            )
        )
    return found
