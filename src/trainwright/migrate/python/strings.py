"""String literals that may name a device, a backend or a tensor type, and what they are used as."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainwright.migrate.python.flow import Flow, Role

if TYPE_CHECKING:
    from trainwright.migrate.python.module import PythonFile

#: The words a `StringHook` may ask for are found with this one expression per file.
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class StringRef:
    """A string in the code.

    Args:
        node: the expression to look at: the literal, the f-string around it, or the concatenation it is part of.
        value: its text; the replaced fields of an f-string are ``{}``.
        formatted: the text goes on with something that is only known at run time.
    """

    file: PythonFile
    node: ast.expr
    value: str
    formatted: bool

    @property
    def role(self) -> Role | None:
        """What the string is used as."""
        return Flow(self.file).role(self.node)


def string_refs(file: PythonFile, words: frozenset[str]) -> list[StringRef]:
    """Strings of a file that hold one of the words (lower case), each once."""
    found: dict[ast.expr, StringRef] = {}
    for node in file.index.strings:
        if _is_documentation(file, node) or (isinstance(node.value, bytes) and not _is_decoded(file, node)):
            continue
        whole = _whole(file, node)
        if whole in found:
            continue
        text = _text(file, whole)
        if text is None or not any(word.lower() in words for word in _WORD.findall(text)):
            continue
        found[whole] = StringRef(file=file, node=whole, value=text, formatted="{}" in text and whole is not node)
    return list(found.values())


def _is_documentation(file: PythonFile, node: ast.Constant) -> bool:
    return isinstance(file.parent(node), ast.Expr)


def _is_decoded(file: PythonFile, node: ast.Constant) -> bool:
    """``b"cuda".decode()``: bytes that become a string at once."""
    above = file.parent(node)
    return isinstance(above, ast.Attribute) and above.attr == "decode" and file.call_of(above) is not None


def _whole(file: PythonFile, node: ast.expr) -> ast.expr:
    """The f-string or constant concatenation that a literal is a part of."""
    above = file.parent(node)
    if isinstance(above, ast.JoinedStr):
        return above
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Add) and isinstance(file.constant(above), str):
        return _whole(file, above)
    return node


def _text(file: PythonFile, node: ast.expr) -> str | None:
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        return "".join(str(part) for part in parts)
    value = file.constant(node)
    if isinstance(value, bytes):
        return value.decode("ascii", "replace")
    return value if isinstance(value, str) else None
