"""Run the rules over a Python file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from trainwright.migrate.document import Document
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.hooks import HookIndex, index_hooks
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.parse import parse_error, parsed
from trainwright.migrate.python.references import references
from trainwright.migrate.python.registration import registration
from trainwright.migrate.python.served import held_back
from trainwright.migrate.python.settled import settled
from trainwright.migrate.python.strings import string_refs
from trainwright.migrate.python.together import together
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import RULES, FileHook, Rule
from trainwright.migrate.source import Source

_WORDS = re.compile(r"[a-z_][a-z0-9_]*")


def scan_python(
    source: Source, project: Project, options: Options, rules: Iterable[Rule] | None = None
) -> list[Remark]:
    """All remarks on a Python file, in order of place; for a file that cannot be parsed only that."""
    tree = parsed(source)
    if tree is None:
        return _unreadable(source, project, options) if rules is None else []
    file = PythonFile(source=source, tree=tree, project=project, options=options)
    hooks = _all_hooks() if rules is None else index_hooks(rules)
    found = set(_visits(file, hooks))
    if rules is None:
        found.update(remark for visit in _file_hooks("python") for remark in visit(file))
    judged = settled(file, held_back(file, found))
    registered = _registered(file, together(file, judged) if rules is None else judged)
    return sorted(registered, key=lambda remark: (remark.start, remark.end, remark.number, remark.title))


def _unreadable(source: Source, project: Project, options: Options) -> list[Remark]:
    language, error = "unreadable-python", parse_error(source)
    document = Document(source=source, language=language, project=project, options=options, content=error)
    return [remark for visit in _file_hooks(language) for remark in visit(document)]


@cache
def _file_hooks(language: str) -> list[Callable[[Any], Iterable[Remark]]]:
    hooks = [hook for rule in RULES for hook in rule.hooks if isinstance(hook, FileHook)]
    return [hook.visit for hook in hooks if language in hook.languages]


@cache
def _all_hooks() -> HookIndex:
    return index_hooks(RULES)


def _registered(file: PythonFile, remarks: list[Remark]) -> list[Remark]:
    """The remarks, with the import of torch_npu among the edits of those that need it.

    A file that does not import torch, such as one of settings, hands strings to others that do.
    """
    uses_torch = any(ref.name.partition(".")[0] == "torch" for ref in file.import_refs)
    if file.options.style != "npu" or not uses_torch:
        return [replace(remark, registers=False) for remark in remarks]
    edit = registration(file) if any(remark.registers and remark.edits for remark in remarks) else None
    if edit is None:
        return remarks
    return [
        replace(remark, edits=(*remark.edits, edit)) if remark.registers and remark.edits else remark
        for remark in remarks
    ]


def _visits(file: PythonFile, hooks: HookIndex) -> Iterator[Remark]:
    for ref in references(file):
        for visit in hooks.for_name(ref.name):
            yield from visit(ref, file)
    for node in file.index.attributes:
        if node.attr in hooks.attributes and file.resolve(node) is None:
            for visit in hooks.attributes[node.attr]:
                yield from visit(node, file)
    for string in string_refs(file, frozenset(hooks.words)):
        words = set(_WORDS.findall(string.value.lower()))
        for visit in {visit for word in words for visit in hooks.words.get(word, ())}:
            yield from visit(string, file)
    for imported in file.import_refs:
        for visit in hooks.roots.get(imported.name.partition(".")[0], ()):
            yield from visit(imported, file)
