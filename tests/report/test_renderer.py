"""What every renderer that writes a file has in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.sample_page import sample_page
from trainwright.core.errors import OutputError
from trainwright.report.renderer import RENDERERS

FILES = sorted(leaf.code for leaf in RENDERERS if leaf.target != "folder")


@pytest.mark.parametrize("code", FILES)
def test_force_replaces_what_the_renderer_wrote_and_nothing_else(code: str, tmp_path: Path) -> None:
    renderer, page, path = RENDERERS[code], sample_page(), tmp_path / "out"
    renderer.write(page, path)
    with pytest.raises(OutputError, match="--force"):
        renderer.write(page, path)
    assert renderer.write(page, path, force=True) == [path]

    for text in ('{"traceEvents": []}', "<!DOCTYPE html>\n<html><body>theirs</body></html>", "name,dur\na,1\n"):
        path.write_text(text)
        with pytest.raises(OutputError, match="never overwritten"):
            renderer.write(page, path, force=True)
        assert path.read_text() == text
