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


def parse_error(source: Source) -> tuple[str, int]:
    """Why a file cannot be read, and the character offset the parser names; the start when it names none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source.text)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(source.line_starts))
        return f"{error.msg} (line {line})", source.line_starts[line - 1]
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__, 0
    return "", 0
