"""The hooks of all Python rules, indexed by what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import ImportHook, MethodHook, NameHook, Rule, StringHook

Visit = Callable[[Any, Any], Iterable[Remark]]


@dataclass(frozen=True, kw_only=True)
class HookIndex:
    """Visits by exact name, by leading part of a name, by attribute, by word and by imported package."""

    exact: dict[str, list[Visit]] = field(default_factory=dict)
    below: dict[str, list[Visit]] = field(default_factory=dict)
    attributes: dict[str, list[Visit]] = field(default_factory=dict)
    words: dict[str, list[Visit]] = field(default_factory=dict)
    roots: dict[str, list[Visit]] = field(default_factory=dict)

    def for_name(self, name: str) -> Iterator[Visit]:
        """Visits for a dotted name: its own, and those of every ``lead.*`` it is or lies below."""
        yield from self.exact.get(name, ())
        while name:
            yield from self.below.get(name, ())
            name = name.rpartition(".")[0]


def index_hooks(rules: Iterable[Rule]) -> HookIndex:
    """The index of the hooks of some rules."""
    index = HookIndex()
    for rule in rules:
        for hook in rule.hooks:
            if isinstance(hook, NameHook):
                for name in hook.names:
                    table = index.below if name.endswith(".*") else index.exact
                    table.setdefault(name.removesuffix(".*"), []).append(hook.visit)
            elif isinstance(hook, MethodHook):
                _add(index.attributes, hook.attributes, hook.visit)
            elif isinstance(hook, StringHook):
                _add(index.words, hook.words, hook.visit)
            elif isinstance(hook, ImportHook):
                _add(index.roots, hook.roots, hook.visit)
    return index


def _add(table: dict[str, list[Visit]], keys: Iterable[str], visit: Visit) -> None:
    for key in keys:
        table.setdefault(key, []).append(visit)
