"""The contract of a rule leaf: what it looks for, and what it says about it.

A rule declares *hooks*. Hooks are indexed by the names they ask for, so the cost of a scan grows with the file, not
with the number of rules:

- `NameHook`: every reference that resolves to one of `names` (dotted; a name that ends in ``.*`` takes everything
  below it, too). Called once per maximal reference, with the node, the resolved name and the confidence.
- `MethodHook`: every attribute called `attributes` whose receiver is *not* a resolved module or package (``x.cuda``).
- `StringHook`: every string literal that mentions one of `words` as a word, after what it flows to is known.
- `ImportHook`: every import of a package whose first part is among `roots`.
- `FileHook`: every file of one of `languages`, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainwright.core.registry import Registry
from trainwright.migrate.remark import Remark

if TYPE_CHECKING:
    from trainwright.migrate.python.module import ImportRef, NameRef, PythonFile
    from trainwright.migrate.python.strings import StringRef

Remarks = Iterable[Remark]


@dataclass(frozen=True, kw_only=True)
class NameHook:
    """Call `visit` for references to these dotted names."""

    names: tuple[str, ...]
    visit: Callable[[NameRef, PythonFile], Remarks]


@dataclass(frozen=True, kw_only=True)
class MethodHook:
    """Call `visit` (with the `ast.Attribute` node) for attributes with these names on values."""

    attributes: tuple[str, ...]
    visit: Callable[[Any, PythonFile], Remarks]


@dataclass(frozen=True, kw_only=True)
class StringHook:
    """Call `visit` for string literals that contain one of these words (lower case, whole words)."""

    words: tuple[str, ...]
    visit: Callable[[StringRef, PythonFile], Remarks]


@dataclass(frozen=True, kw_only=True)
class ImportHook:
    """Call `visit` for imports of these top-level packages."""

    roots: tuple[str, ...]
    visit: Callable[[ImportRef, PythonFile], Remarks]


@dataclass(frozen=True, kw_only=True)
class FileHook:
    """Call `visit` once per file of these languages, with what the language makes of it.

    ``python`` gives a `PythonFile`, every other language a `Document`; ``unreadable-python`` stands for Python files
    that cannot be parsed.
    """

    languages: tuple[str, ...]
    visit: Callable[[Any], Remarks]


Hook = NameHook | MethodHook | StringHook | ImportHook | FileHook


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One kind of finding (module constant ``RULE``).

    `code` is the module's name with ``-`` for ``_``; `number` is what users select, ignore and look up. `why` says what
    goes wrong without a change; `before` and `after` are an example (`after` empty: there is nothing to write
    instead). `safety` is that of its edits at best.
    """

    code: str
    number: str
    summary: str
    why: str
    before: str
    after: str = ""
    safety: str = "display"
    hooks: tuple[Hook, ...] = ()


RULES: Registry[Rule] = Registry(kind="rule", package="trainwright.migrate.rules", constant="RULE")


def rule_for(text: str) -> Rule | None:
    """The rule with this number (``TW101``) or code (``device-strings``); None when there is none."""
    wanted = text.strip()
    return next((rule for rule in RULES if wanted.upper() == rule.number or wanted.lower() == rule.code), None)
