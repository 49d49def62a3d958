"""The contract of a renderer leaf: a `Result` in, a document for people or machines out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from trainwright.core.registry import Registry
from trainwright.core.result import Result


@dataclass(frozen=True, kw_only=True)
class Page:
    """A result with what a document says around it.

    `command` is the sub-command (``"analyze"``), `title` and `subtitle` head the document, `top` bounds the rows
    people are shown per table (None: all), `next_steps` are commands to type next. `findings_first` puts findings
    before tables, `codes` gives one sentence per code of a finding.
    """

    command: str
    title: str
    subtitle: str = ""
    result: Result
    top: int | None = None
    next_steps: tuple[str, ...] = ()
    findings_first: bool = False
    codes: Mapping[str, str] = field(default_factory=dict)


class Renderer(Protocol):
    """The contract of a renderer leaf (module constant ``RENDERER``)."""

    @property
    def code(self) -> str:
        """Name of the leaf."""

    @property
    def summary(self) -> str:
        """One sentence for the catalogue."""

    @property
    def target(self) -> Literal["text", "file", "folder"]:
        """``text``: `render` gives the document. ``file`` or ``folder``: `write` makes it at a path."""

    def render(self, page: Page) -> str:
        """The document as text."""

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the document whole or not at all, and return what was written.

        Raises:
            OutputError: the path exists and `force` is not set, or it cannot be written.
        """


RENDERERS: Registry[Renderer] = Registry(kind="renderer", package="trainwright.report.renderers", constant="RENDERER")
