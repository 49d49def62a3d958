"""Jupyter notebooks: code cells, commands and magics; outputs stay as they are."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import is_binary, plain_source
from trainwright.migrate.text.notebook_scan import learn_notebook, scan_notebook


def _matches(path: str, head: bytes) -> bool:
    return PurePosixPath(path).suffix.lower() == ".ipynb" and not is_binary(head)


LANGUAGE = Language(
    code="notebook",
    summary="Jupyter notebooks: code cells, commands and magics; outputs are never touched.",
    matches=_matches,
    read=plain_source,
    learn=learn_notebook,
    scan=scan_notebook,
)
