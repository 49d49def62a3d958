"""Scan a piece of code with some rules, and apply what they offer."""

from __future__ import annotations

from trainwright.migrate.choose import chosen
from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import Rule
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import spliced


def remarks_of(code: str, *rules: Rule, style: Style = "npu", torch: str = "2.8") -> list[Remark]:
    """The remarks of some rules (of all: none given) on the file ``train.py``."""
    source = python_source("train.py", code.encode())
    return scan_python(source, Project(), Options(style=style, torch=torch), rules or None)


def migrated(code: str, *rules: Rule, style: Style = "npu", unsafe: bool = False) -> str:
    """The code after the safe edits (with `unsafe` all), without the line that imports torch_npu."""
    kept = chosen(remarks_of(code, *rules, style=style), unsafe=unsafe)
    edits = [edit for remark in kept for edit in remark.edits]
    return spliced(python_source("train.py", code.encode()), edits).decode().replace("import torch_npu\n", "")


def outcomes(code: str, *rules: Rule) -> list[str]:
    """The outcomes of the remarks, in order of place."""
    return [remark.outcome for remark in remarks_of(code, *rules)]
