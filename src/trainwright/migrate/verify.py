"""The last look before edits are offered: a file that could be read before must be readable after.

An edit that would break a file is a bug of ours. It is withdrawn, what it was for is left to a person, and the report
says so.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from trainwright.migrate.choose import chosen
from trainwright.migrate.remark import Remark
from trainwright.migrate.source import Source
from trainwright.migrate.splice import spliced

_WITHDRAWN = "Change this by hand: the automatic edit was withdrawn, because the file could not be read after it."


def verified(source: Source, language: str, remarks: list[Remark]) -> tuple[list[Remark], str]:
    """The remarks with edits that keep the file readable, and what went wrong (empty: nothing)."""
    read = _reader(source.path, language)
    safe = chosen(remarks, unsafe=False)
    every = chosen(remarks, unsafe=True)
    if read is None or not every:
        return remarks, ""
    if safe and (problem := _broken(source, safe, read)):
        return [_withdrawn(remark) for remark in remarks], problem
    if len(every) > len(safe) and (problem := _broken(source, every, read)):
        return [remark if remark.safety == "safe" else _withdrawn(remark) for remark in remarks], problem
    return remarks, ""


def _reader(path: str, language: str) -> Callable[[bytes], object] | None:
    if language == "python":
        return ast.parse
    return json.loads if path.endswith((".json", ".ipynb")) else None


def _broken(source: Source, remarks: Sequence[Remark], read: Callable[[bytes], object]) -> str:
    """Why the file cannot be read after the edits, if it could be before; else empty."""
    after = spliced(source, [edit for remark in remarks for edit in remark.edits])
    problem = _problem(after, read)
    return problem if problem and not _problem(source.data, read) else ""


def _problem(data: bytes, read: Callable[[bytes], object]) -> str:
    try:
        read(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _withdrawn(remark: Remark) -> Remark:
    if not remark.edits:
        return remark
    return replace(
        remark,
        edits=(),
        safety="display",
        registers=False,
        outcome="manual" if remark.outcome == "replaced" else remark.outcome,
        advice=f"{remark.advice} {_WITHDRAWN}".strip(),
    )
