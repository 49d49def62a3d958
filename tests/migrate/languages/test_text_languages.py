"""Which language reads which file, and that every one takes any bytes."""

from __future__ import annotations

import random

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.reading import language_of
from trainwright.migrate.splice import spliced

PATHS = [
    ("a.sh", b"", "shell"),
    ("job.sbatch", b"", "shell"),
    (".env", b"", "shell"),
    ("run", b"#!/bin/bash -e\n", "shell"),
    ("run", b"#!/usr/bin/env -S bash\n", "shell"),
    ("Makefile", b"", "makefile"),
    ("rules.mk", b"", "makefile"),
    ("docker/Dockerfile.gpu", b"", "dockerfile"),
    ("gpu.dockerfile", b"", "dockerfile"),
    ("requirements.txt", b"", "requirements"),
    ("requirements-dev.in", b"", "requirements"),
    ("requirements/gpu.txt", b"", "requirements"),
    ("constraints.txt", b"", "requirements"),
    ("a.yml", b"", "yaml-config"),
    ("a.json", b"", "json-config"),
    ("pyproject.toml", b"", "toml-config"),
    ("setup.cfg", b"", "ini-config"),
    ("a.ipynb", b"", "notebook"),
    ("README.md", b"for CUDA", "prose"),
]


@pytest.mark.parametrize(("path", "head", "code"), PATHS)
def test_paths(path: str, head: bytes, code: str) -> None:
    language = language_of(path, head)
    assert language is not None
    assert language.code == code


@pytest.mark.parametrize(
    ("path", "head"),
    [("run", b"#!/usr/bin/env perl\n"), ("run", b"text"), ("README.md", b"nothing"), ("package-lock.json", b"{}")],
)
def test_other_files_are_not_read(path: str, head: bytes) -> None:
    assert language_of(path, head) is None


@pytest.mark.parametrize("path", sorted({path for path, head, _ in PATHS if not head}))
def test_any_bytes_are_taken(path: str) -> None:
    dice = random.Random(1)
    words = "cuda|device|: |=|'|\"|[|]|{|}|$(|`|<<E|#|- |(|)|nvidia-smi|  |export CUDA_VISIBLE_DEVICES=0|\u00fc"
    pieces = [*(word.encode() for word in words.split("|")), b"|", b"\n", b"\r\n", b"\t", b"\\", b"\xff"]
    for _ in range(150):
        data = b"".join(dice.choices(pieces, k=dice.randint(1, 40)))
        language = language_of(path, data)
        if language is None:
            continue
        source = language.read(path, data)
        assert language.learn(source).path == path
        for remark in language.scan(source, Project(), Options()):
            assert 0 <= remark.start <= remark.end <= len(data)
            spliced(source, remark.edits)


def test_prose_is_counted_and_never_judged() -> None:
    language = language_of("README.md", b"export CUDA_VISIBLE_DEVICES=0")
    assert language is not None
    source = language.read("README.md", b"export CUDA_VISIBLE_DEVICES=0")
    assert language.scan(source, Project(), Options()) == []
