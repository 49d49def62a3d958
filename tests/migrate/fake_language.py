"""A language and remarks of the tests' own: what the engine does does not depend on the rules it runs.

In a ``.fake`` file (and in Python, when asked) ``cuda`` becomes ``npu`` (safe), ``nccl`` becomes ``hccl`` (unsafe),
``apex`` is blocked, ``amp`` must be decided on, ``prose`` is a note, ``boom`` makes the scan fail, and ``wreck``
becomes an opening parenthesis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from trainwright.migrate.language import LANGUAGES, Language
from trainwright.migrate.options import Options
from trainwright.migrate.project import Facts, Project
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import RULES, Rule
from trainwright.migrate.source import Source, plain_source, python_source

_EDITS = {"cuda": ("TW101", "npu", "safe"), "nccl": ("TW301", "hccl", "unsafe"), "wreck": ("TW101", "(", "safe")}
_OPEN = {"apex": ("TW601", "blocked", 60), "amp": ("TW201", "manual", 10), "prose": ("TW701", "note", 0)}
_WORD = re.compile(r"\b(cuda|nccl|apex\d*|amp|prose|boom|wreck)\b")
RULE_NAMES = (("TW101", "device-strings"), ("TW201", "amp"), ("TW301", "process-group"), ("TW601", "library-imports"))


def use_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the fake language read ``.fake`` and ``.py`` files, and nothing else read anything."""
    rules = [*RULE_NAMES, ("TW701", "environment-variables")]
    leaves = {"fake": _language("fake", ".fake"), "python": _language("python", ".py")}
    monkeypatch.setattr(LANGUAGES, "leaves", leaves)
    made = {code: Rule(code=code, number=number, summary=f"{code}.", why="", before="") for number, code in rules}
    monkeypatch.setattr(RULES, "leaves", made)


def _language(code: str, suffix: str) -> Language:
    return Language(
        code=code,
        summary="Fake.",
        matches=lambda path, head: path.endswith(suffix),
        read=python_source if code == "python" else plain_source,
        learn=lambda source: Facts(path=source.path, language=code, entry_point=b"__main__" in source.data),
        scan=_scan,
    )


def _scan(source: Source, project: Project, options: Options) -> list[Remark]:
    assert source.path in project.files
    return list(_remarks(source))


def _remarks(source: Source) -> Iterator[Remark]:
    for match in _WORD.finditer(source.text):
        word = match.group()
        if word == "boom":
            raise ZeroDivisionError("our own mistake")
        start, end = source.byte_at(match.start()), source.byte_at(match.end())
        fields: dict[str, Any] = {"start": start, "end": end, "title": f"{word} is here"}
        if word in _EDITS:
            number, new, safety = _EDITS[word]
            yield Remark(number=number, safety=safety, edits=(Edit(start=start, end=end, new=new),), **fields)  # type: ignore[arg-type]
        else:
            number, outcome, minutes = _OPEN[word.rstrip("0123456789")]
            yield Remark(number=number, outcome=outcome, minutes=minutes, advice=f"replace {word}", **fields)  # type: ignore[arg-type]
