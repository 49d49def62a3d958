"""The reader of Dockerfiles."""

from __future__ import annotations

import pytest

from trainwright.migrate.text.dockerfile import read_dockerfile

TEXT = """\
# syntax=docker/dockerfile:1
ARG BASE=ubuntu:22.04
FROM --platform=$TARGET ${BASE} AS build
ENV A=1 B="two words" \\
    # a note
    C=3
ENV OLD some value
RUN --mount=type=cache,target=/root \\
    set -e; \\
    # a note

    python a.py && pip install torch
RUN <<EOF
run one
EOF
COPY <<EOF /etc/file
not a command
EOF
CMD ["python", "train.py", "--x"]
ENTRYPOINT exec run
HEALTHCHECK CMD check it
onbuild RUN last
"""


def test_instructions() -> None:
    found = read_dockerfile(TEXT)
    assert [place.name for place in found.assignments] == ["BASE", "A", "B", "C", "OLD"]
    assert [image.name for image in found.images] == ["${BASE}"]
    assert [command.words[0].text for command in found.commands] == [
        "set",
        "python",
        "pip",
        "run",
        "python",
        "exec",
        "check",
        "last",
    ]
    assert [use.name for use in found.uses] == ["TARGET", "BASE"]
    for place in (*found.assignments, *found.uses):
        assert TEXT[place.start : place.end] == place.name


def test_values_have_their_bytes() -> None:
    found = {place.name: TEXT[place.value_start : place.value_end] for place in read_dockerfile(TEXT).assignments}
    assert found == {"BASE": "ubuntu:22.04", "A": "1", "B": "two words", "C": "3", "OLD": "some value"}


@pytest.mark.parametrize("text", ["", "FROM", "FROM \\", "RUN \\\n", "ENV", "ENV A", "CMD [", "ONBUILD", "RUN <<E\nx"])
def test_nonsense_ends(text: str) -> None:
    read_dockerfile(text)
