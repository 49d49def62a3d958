"""Python files."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.python.learn import learn_python
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.source import is_binary, python_source

_SHEBANG = re.compile(rb"#!\s*/\S*?(?:\benv\s+(?:-S\s+)?)?python[0-9.]*\b")


def _matches(path: str, head: bytes) -> bool:
    suffix = PurePosixPath(path).suffix.lower()
    return suffix in (".py", ".pyw", ".pyi") or (not suffix and not is_binary(head) and bool(_SHEBANG.match(head)))


LANGUAGE = Language(
    code="python",
    summary="Python modules and scripts (.py .pyw .pyi, or python in the first line).",
    matches=_matches,
    read=python_source,
    learn=learn_python,
    scan=scan_python,
    order=10,
)
