"""Find the leaves of a contract: one module per leaf, one constant per module.

A leaf folder such as ``trace/readers`` needs no list of its members: a registry imports every public module of
the folder and takes the constant that the contract names. Adding a feature is adding a file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from trainwright.core.errors import InputError


class Leaf(Protocol):
    """What every leaf declares about itself."""

    @property
    def code(self) -> str:
        """Short name, equal to the module's name with ``-`` for ``_``."""

    @property
    def summary(self) -> str:
        """One sentence for help texts and the catalogue."""


LeafT = TypeVar("LeafT", bound=Leaf)


class Registry(Generic[LeafT]):
    """The leaves of one folder, imported on first use.

    Args:
        kind: what a leaf is called in messages and in the catalogue, for example ``"reader"``.
        package: dotted name of the leaf folder.
        constant: name of the constant each leaf module defines.
    """

    def __init__(self, *, kind: str, package: str, constant: str) -> None:
        self.kind = kind
        self.package = package
        self.constant = constant

    @cached_property
    def leaves(self) -> dict[str, LeafT]:
        """Every leaf by its code, in alphabetical order."""
        folder = importlib.import_module(self.package)
        names = sorted(info.name for info in pkgutil.iter_modules(folder.__path__) if not info.name.startswith("_"))
        found = {}
        for name in names:
            leaf = getattr(importlib.import_module(f"{self.package}.{name}"), self.constant)
            assert leaf.code == name.replace("_", "-"), f"leaf {self.package}.{name} calls itself {leaf.code!r}"
            found[leaf.code] = leaf
        return found

    def __iter__(self) -> Iterator[LeafT]:
        return iter(self.leaves.values())

    def __getitem__(self, code: str) -> LeafT:
        """The leaf called `code`.

        Raises:
            InputError: no such leaf.
        """
        if code not in self.leaves:
            raise InputError(f"there is no {self.kind} called {code!r}", allowed=", ".join(self.leaves))
        return self.leaves[code]
