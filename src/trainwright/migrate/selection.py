"""Which rules the user wants: by number (``TW101``), by the beginning of numbers (``TW1``), or by code."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trainwright.core.errors import InputError
from trainwright.migrate.rule import RULES
from trainwright.migrate.user_rules import UserRule


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Prefixes of rule numbers to keep (empty: all) and to leave out; the longer prefix wins, then leaving out.

    `numbers` gives the number of every rule code (lower case), `sentences` what every number means.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)

    def takes(self, number: str) -> bool:
        """Whether remarks of a rule are wanted."""
        wanted = max((len(prefix) for prefix in self.select if number.startswith(prefix)), default=-1)
        unwanted = max((len(prefix) for prefix in self.ignore if number.startswith(prefix)), default=-1)
        return (wanted > unwanted) if self.select else unwanted < 0


def select_rules(select: Iterable[str], ignore: Iterable[str], rules: Sequence[UserRule] = ()) -> Selection:
    """The selection out of what the user wrote; commas separate.

    Raises:
        InputError: a word names no rule.
    """
    numbers = {rule.code: rule.number for rule in RULES} | {rule.code.lower(): rule.code for rule in rules}
    sentences = {rule.number: rule.summary for rule in RULES} | {rule.code: rule.sentence for rule in rules}
    return Selection(
        select=tuple(_prefix(word, numbers) for word in _words(select)),
        ignore=tuple(_prefix(word, numbers) for word in _words(ignore)),
        numbers=numbers,
        sentences=sentences,
    )


def no_such_rule(word: str, numbers: Mapping[str, str]) -> InputError:
    """The error for a word that names no rule, with the nearest one that exists."""
    known = [*numbers, *numbers.values()]
    close = difflib.get_close_matches(word.lower(), [name.lower() for name in known], n=1, cutoff=0.5)
    todo = f"did you mean {_spelled(close[0], known)}? " if close else ""
    return InputError(
        f"there is no rule {word!r}",
        allowed="a number such as TW101, its beginning such as TW1, or a code such as device-strings",
        todo=f"{todo}`trainwright catalog` lists all rules",
    )


def _spelled(lower: str, known: Sequence[str]) -> str:
    return next(name for name in known if name.lower() == lower)


def _words(texts: Iterable[str]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]


def _prefix(word: str, numbers: Mapping[str, str]) -> str:
    if word.lower() in numbers:
        return numbers[word.lower()]
    upper = word.upper()
    if any(number.startswith(upper) for number in numbers.values()):
        return upper
    raise no_such_rule(word, numbers)
