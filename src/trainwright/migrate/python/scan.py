"""Run the rules over a Python file."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.hooks import HookIndex, index_hooks
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.references import references
from trainwright.migrate.python.strings import string_refs
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import RULES, Rule
from trainwright.migrate.source import Source

_WORDS = re.compile(r"[a-z_][a-z0-9_]*")


def parsed(source: Source) -> ast.Module | None:
    """The tree of a file; None when the host's parser cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are the user's own matter
            return ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def scan_python(
    source: Source, project: Project, options: Options, rules: Iterable[Rule] | None = None
) -> list[Remark]:
    """All remarks on a Python file, in order of place; none for a file that cannot be parsed."""
    tree = parsed(source)
    if tree is None:
        return []
    file = PythonFile(source=source, tree=tree, project=project, options=options)
    hooks = index_hooks(RULES if rules is None else rules)
    found = set(_visits(file, hooks))
    return sorted(found, key=lambda remark: (remark.start, remark.end, remark.number, remark.title))


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
