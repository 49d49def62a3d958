"""The references of a file: every largest chain that resolves to a dotted name, once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.module import NameRef, PythonFile


def references(file: PythonFile) -> Iterator[NameRef]:
    """References by kind: attributes (read or set), names that are read, calls such as ``getattr(torch, "cuda")``."""
    for node in (*file.index.attributes, *file.index.names, *file.index.calls):
        above = file.parent(node)
        if isinstance(above, ast.Attribute) and file.resolve(above) is not None:
            continue  # a part of a larger chain
        found = file.resolve(node)
        if found is not None:
            yield NameRef(node=node, name=found.name, confidence=found.confidence, call=file.call_of(node))
