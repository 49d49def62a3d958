"""The reader of makefiles."""

from __future__ import annotations

import pytest

from trainwright.migrate.text.makefile import read_makefile

TEXT = """\
# NAME = comment
NAME ?= value # note
export OTHER := a \\
  b
unexport GONE
target: WITH = x
all: dep
\t@VAR=1 python $(SCRIPT) --x $$HOME $@ \\
\t  --more
\t-nvidia-smi
"""


def test_variables_uses_and_commands() -> None:
    found = read_makefile(TEXT)
    assert [place.name for place in found.assignments] == ["NAME", "OTHER", "WITH", "VAR"]
    assert [use.name for use in found.uses] == ["GONE", "HOME", "SCRIPT"]
    assert [command.words[0].text for command in found.commands] == ["python", "nvidia-smi"]
    for place in (*found.assignments, *found.uses):
        assert TEXT[place.start : place.end] == place.name


@pytest.mark.parametrize("text", ["", "\t", "a:\n\t", "\t\\", "=", "a =", "$(", "\t$$$$$(("])
def test_nonsense_ends(text: str) -> None:
    read_makefile(text)
