"""Find functions and what they call with the tree-sitter grammar of CUDA (which takes C++, too)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from trainwright.migrate.native.code import Function

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

_WANTED = """
(function_definition) @function
(call_expression function: [(identifier) (qualified_identifier) (template_function)] @callee)
"""


@cache
def _machine() -> tuple[Parser, Query]:
    """Parser and query, made once: loading the grammar takes longer than most files."""
    import tree_sitter
    import tree_sitter_cuda

    language = tree_sitter.Language(tree_sitter_cuda.language())
    return tree_sitter.Parser(language), tree_sitter.Query(language, _WANTED)


def parsed_functions(data: bytes) -> list[Function]:
    """Every function definition with the names called inside it, in order; errors in the text are stepped over."""
    import tree_sitter

    parser, query = _machine()
    captures = tree_sitter.QueryCursor(query).captures(parser.parse(data).root_node)
    spans = sorted(
        (node.start_byte, node.end_byte, name)
        for node in captures.get("function", [])
        if (name := _function_name(node))
    )
    calls: list[set[str]] = [set() for _ in spans]
    open_spans: list[int] = []  # functions around the place reached, the innermost last
    following = 0
    for node in sorted(captures.get("callee", []), key=_start):
        at = node.start_byte
        while following < len(spans) and spans[following][0] <= at:
            open_spans.append(following)
            following += 1
        while open_spans and spans[open_spans[-1]][1] <= at:
            open_spans.pop()
        if open_spans:
            calls[open_spans[-1]].add(_last_name(node.text or b""))
    return [
        Function(name=name, start=start, end=end, calls=frozenset(found))
        for (start, end, name), found in zip(spans, calls, strict=True)
    ]


def _start(node: Node) -> int:
    return node.start_byte


def _function_name(node: Node) -> str:
    """Name of a function definition, without namespace and template arguments."""
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type != "function_declarator":
        inner = inner.child_by_field_name("declarator") or next(
            (child for child in inner.named_children if child.type.endswith("declarator")), None
        )
    named = inner.child_by_field_name("declarator") if inner is not None else None
    return _last_name(named.text or b"") if named is not None else ""


def _last_name(text: bytes) -> str:
    """``h`` of ``a::g<T>::h<int>``."""
    if b"<" not in text:
        return text.rpartition(b"::")[2].strip().decode("utf-8", "replace")
    plain, depth = bytearray(), 0
    for char in text:
        depth += char == ord("<")
        if not depth:
            plain.append(char)
        depth -= char == ord(">")
    return bytes(plain).rpartition(b"::")[2].strip().decode("utf-8", "replace")
