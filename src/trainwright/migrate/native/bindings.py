"""Find what a C++ file gives to Python: ``PYBIND11_MODULE`` blocks and ``TORCH_LIBRARY`` blocks.

The block and its calls are read from the text, so that the number of arguments a function is declared with, forward
declarations and macros around it make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainwright.migrate.native.code import Binding
from trainwright.migrate.native.masking import arguments, closing
from trainwright.migrate.native.patterns import calls_in

_BLOCK = re.compile(rb"\b(PYBIND11_MODULE|TORCH_LIBRARY(?:_\w+)?|STABLE_TORCH_LIBRARY(?:_\w+)?)\s*\(")
_OPEN = re.compile(rb"\s*\{")
_ENTRY = re.compile(rb"\.\s*(def|impl)\s*\(")
_OF_A_CLASS = re.compile(rb"\b(?:class_|enum_)\b")
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_TARGET = re.compile(rb"^\s*(?:\w+\s*\(\s*)*&?\s*(?:::)?((?:\w+\s*::\s*)*\w+)")
_CAST = re.compile(rb"^\s*(?:static_cast|reinterpret_cast|py::overload_cast|pybind11::overload_cast)\b")
_ADDRESS = re.compile(rb"&([\w:]+)")
_KEY = re.compile(rb"\bk?((?:Autograd|Quantized|Sparse)?CUDA|PrivateUse1|CPU)\b")
_IMPL_BLOCK = re.compile(rb"_IMPL")
_OPERATOR = re.compile(r"^\s*(?:(\w+)::)?(\w+)")


def bindings_in(commentless: bytes, masked: bytes) -> list[Binding]:
    """Every binding of the file; `commentless` keeps the strings that `masked` blanks."""
    found: list[Binding] = []
    for match in _BLOCK.finditer(masked):
        end = closing(masked, match.end() - 1)
        body = _OPEN.match(masked, end)
        head = [masked[start:stop].strip() for start, stop in arguments(masked, match.end(), end - 1)]
        line = masked[masked.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if body is None or not head or line.lstrip().startswith(b"#"):
            continue
        library = b"LIBRARY" in match[1]
        key = _key(head[1]) if library and _IMPL_BLOCK.search(match[1]) and len(head) > 1 else ""
        block = (body.end(), closing(masked, body.end() - 1) - 1)
        found += _entries(commentless, masked, block, head[0].decode("utf-8", "replace"), library, key)
    return found


def _entries(
    commentless: bytes, masked: bytes, block: tuple[int, int], namespace: str, library: bool, block_key: str
) -> Iterator[Binding]:
    for match in _ENTRY.finditer(masked, *block):
        statement = masked.rfind(b";", block[0], match.start()) + 1 or block[0]
        if _OF_A_CLASS.search(masked, statement, match.start()):
            continue  # a method: Python reaches it through an object, not through the module
        end = closing(masked, match.end() - 1)
        parts = arguments(masked, match.end(), end - 1)
        text = _STRING.search(commentless, *parts[0]) if parts else None
        named = _OPERATOR.match(text[1].decode("utf-8", "replace")) if text else None
        if named is None:
            continue  # a constructor (py::init) or a name made by a macro
        rest = [masked[start:stop] for start, stop in parts[1:]]
        implementation = library and match[1] == b"impl"
        yield Binding(
            name=named[2],
            kind="implementation" if implementation else "library" if library else "pybind",
            namespace=(named[1] or namespace) if library else namespace,
            symbols=_symbols(masked, parts, implementation),
            start=match.start() + 1,
            end=end,
            keys=block_key or (_key(rest[0]) if implementation and len(rest) > 1 else ""),
        )


def _key(text: bytes) -> str:
    found = _KEY.search(text)
    return found[1].decode() if found else ""


def _symbols(masked: bytes, parts: list[tuple[int, int]], implementation: bool) -> tuple[str, ...]:
    """The functions a binding leads to: its target, or what its lambda calls."""
    for start, stop in parts[1:]:
        text = masked[start:stop]
        if text.lstrip().startswith(b"[") or _CAST.match(text):
            called = set(calls_in(masked, start, stop))
            return tuple(
                sorted(called | {name.rpartition(b"::")[2].decode() for name in re.findall(rb"&([\w:]+)", text)})
            )
        if implementation and _KEY.search(text) and len(parts) > 2:
            continue
        if target := _TARGET.match(text):
            return (re.sub(rb"\s", b"", target[1]).rpartition(b"::")[2].decode(),)
    return ()
