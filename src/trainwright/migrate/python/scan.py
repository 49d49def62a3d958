"""Run the rules over a Python file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.hooks import HookIndex, index_hooks
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.parse import parsed
from trainwright.migrate.python.references import references
from trainwright.migrate.python.registration import registration
from trainwright.migrate.python.strings import string_refs
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import RULES, Rule
from trainwright.migrate.source import Source

_WORDS = re.compile(r"[a-z_][a-z0-9_]*")


def scan_python(
    source: Source, project: Project, options: Options, rules: Iterable[Rule] | None = None
) -> list[Remark]:
    """All remarks on a Python file, in order of place; none for a file that cannot be parsed."""
    tree = parsed(source)
    if tree is None:
        return []
    file = PythonFile(source=source, tree=tree, project=project, options=options)
    hooks = _all_hooks() if rules is None else index_hooks(rules)
    found = _registered(file, set(_visits(file, hooks)))
    return sorted(found, key=lambda remark: (remark.start, remark.end, remark.number, remark.title))


@cache
def _all_hooks() -> HookIndex:
    return index_hooks(RULES)


def _registered(file: PythonFile, remarks: set[Remark]) -> list[Remark]:
    """The remarks, with the import of torch_npu among the edits of those that need it."""
    wanted = file.options.style == "npu" and any(remark.registers and remark.edits for remark in remarks)
    edit = registration(file) if wanted else None
    if edit is None:
        return list(remarks)
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
