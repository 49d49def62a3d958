"""Shell scripts: commands, variables and the arguments they pass on."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, joined, raw
from trainwright.migrate.text.pip_commands import pip_requirements
from trainwright.migrate.text.scan import learner, scanner
from trainwright.migrate.text.shell import read_shell

_SUFFIXES = frozenset({".sh", ".bash", ".zsh", ".ksh", ".slurm", ".sbatch", ".pbs", ".env"})
_NAMES = frozenset({".env", ".envrc", ".bashrc", ".profile"})
_SHEBANG = re.compile(rb"#!\s*/\S*?(?:\benv\s+(?:-S\s+)?)?(?:ba|z|k|da)?sh\b")


def _matches(path: str, head: bytes) -> bool:
    file = PurePosixPath(path)
    if is_binary(head):
        return False
    if file.suffix.lower() in _SUFFIXES or file.name in _NAMES:
        return True
    return not file.suffix and bool(_SHEBANG.match(head))


def _content(source: Source) -> TextContent:
    found = read_shell(raw(source))
    return joined([found, pip_requirements(found.commands)])


LANGUAGE = Language(
    code="shell",
    summary="Shell scripts and job files (.sh .bash .slurm .sbatch .env, or a shell in the first line).",
    matches=_matches,
    read=plain_source,
    learn=learner("shell"),
    scan=scanner("shell", _content),
)
