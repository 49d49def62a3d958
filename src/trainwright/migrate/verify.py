"""The last look before edits are offered: a file that could be read before must be readable after.

An edit that would break a file is a bug of ours. It is withdrawn, what it was for is left to a person, and the report
says so.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import replace

from trainwright.migrate.remark import Remark
from trainwright.migrate.source import Source
from trainwright.migrate.splice import compatible, spliced

_WITHDRAWN = "Change this by hand: the automatic edit was withdrawn, because the file could not be read after it."


def verified(source: Source, language: str, remarks: list[Remark]) -> tuple[list[Remark], str]:
    """The remarks with edits that keep the file readable, and what went wrong (empty: nothing)."""
    readable = _reader(source.path, language)
    if readable is None:
        return remarks, ""
    safe = compatible([remark for remark in remarks if remark.safety == "safe"])
    if safe and (problem := _broken(source, safe, readable)):
        return [_withdrawn(remark) for remark in remarks], problem
    every = compatible(remarks)
    if len(every) > len(safe) and (problem := _broken(source, every, readable)):
        return [remark if remark.safety == "safe" else _withdrawn(remark) for remark in remarks], problem
    return remarks, ""


def _reader(path: str, language: str) -> type[_Python] | type[_Json] | None:
    if language == "python":
        return _Python
    return _Json if path.endswith((".json", ".ipynb")) else None


class _Python:
    """Python as this interpreter reads it."""

    @staticmethod
    def read(data: bytes) -> None:
        """Raise when the bytes are no Python file."""
        ast.parse(data)


class _Json:
    """JSON, notebooks too."""

    @staticmethod
    def read(data: bytes) -> None:
        """Raise when the bytes are no JSON document."""
        json.loads(data)


def _broken(source: Source, remarks: Sequence[Remark], readable: type[_Python] | type[_Json]) -> str:
    """Why the file cannot be read after the edits, if it could be before; else empty."""
    after = spliced(source, [edit for remark in remarks for edit in remark.edits])
    try:
        readable.read(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        try:
            readable.read(source.data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
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
