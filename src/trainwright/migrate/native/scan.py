"""Scan one native file: read it once, then ask every rule that wants C++ and CUDA files."""

from __future__ import annotations

from trainwright.migrate.document import Document
from trainwright.migrate.native.read import native_code
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import RULES, FileHook
from trainwright.migrate.source import Source

LANGUAGE_CODE = "cuda-source"


def scan_native(source: Source, project: Project, options: Options) -> list[Remark]:
    """The remarks of all rules on a C++ or CUDA file."""
    code = native_code(source, functions=False)
    document = Document(source=source, language=LANGUAGE_CODE, project=project, options=options, content=code)
    hooks = [hook for rule in RULES for hook in rule.hooks if isinstance(hook, FileHook)]
    return [remark for hook in hooks if LANGUAGE_CODE in hook.languages for remark in hook.visit(document)]
