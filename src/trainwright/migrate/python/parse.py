"""Read a Python file with the parser of the interpreter that runs us."""

from __future__ import annotations

import ast
import warnings

from trainwright.migrate.source import Source


def parsed(source: Source) -> ast.Module | None:
    """The tree of a file; None when this interpreter's parser cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are the user's own matter
            return ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
