"""Requirements in files of pip, conda, Poetry and setuptools."""

from __future__ import annotations

import pytest

from trainwright.migrate.source import plain_source
from trainwright.migrate.text.content import raw
from trainwright.migrate.text.ini_file import read_ini
from trainwright.migrate.text.jobs import job_content
from trainwright.migrate.text.packaging import pyproject_requirements
from trainwright.migrate.text.pip_commands import pip_requirements
from trainwright.migrate.text.requirements import read_requirements
from trainwright.migrate.text.shell import read_shell
from trainwright.migrate.text.toml_file import read_toml
from trainwright.migrate.text.yaml_file import read_scalars

LINES = [
    ("# torch\n\n-r other.txt\n-e .\n./local\nhttps://host/x.whl\n", []),
    ("torch", [("torch", "", "")]),
    ("torch==2.1.0+cu118  # note", [("torch", "==2.1.0+cu118", "")]),
    ("torch>=2.1, <3 ; python_version > '3.8'", [("torch", ">=2.1, <3", "python_version > '3.8'")]),
    ("flash-attn[extra]~=2.5", [("flash-attn", "~=2.5", "")]),
    ("xformers @ git+https://host/x.git", [("xformers", "@ git+https://host/x.git", "")]),
    ("apex==0.1 --hash=sha256:00", [("apex", "==0.1", "")]),
    ("torch==2.1\r\nnumpy\r\n", [("torch", "==2.1", ""), ("numpy", "", "")]),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_lines(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = read_requirements(text).requirements
    assert [(each.name, each.specifier, each.marker) for each in found] == expected
    assert all(text[each.start : each.end].startswith(each.name) for each in found)
    assert all(text[each.start : each.end] == text[each.start : each.end].strip() for each in found)


def test_indexes() -> None:
    text = "--extra-index-url https://host/whl/cu118\n-f https://host/links.html\n--find-links=local\n"
    assert [index.url for index in read_requirements(text).indexes] == [
        "https://host/whl/cu118",
        "https://host/links.html",
        "local",
    ]


def test_commands() -> None:
    text = (
        "pip install -r r.txt 'torch==2.1+cu118' xformers -U --index-url https://host/cu118 "
        "&& conda install -c nvidia cuda"
    )
    found = pip_requirements(read_shell(text).commands)
    assert [(each.name, each.specifier, each.source) for each in found.requirements] == [
        ("torch", "==2.1+cu118", "pip"),
        ("xformers", "", "pip"),
        ("cuda", "", "conda"),
    ]
    assert [index.url for index in found.indexes] == ["https://host/cu118", "nvidia"]
    assert all(text[each.start : each.end].startswith(each.name) for each in found.requirements)


def test_conda_environments() -> None:
    text = (
        "channels:\n  - nvidia\ndependencies:\n  - pytorch-cuda=12.1\n  - nvidia::cudatoolkit>=11\n"
        "  - pip:\n      - flash-attn==2.5  # note\n"
    )
    scalars = read_scalars(plain_source("environment.yml", text.encode()))
    assert not isinstance(scalars, str)
    found = job_content(text, scalars)
    assert [(each.name, each.specifier, each.source) for each in found.requirements] == [
        ("pytorch-cuda", "=12.1", "conda"),
        ("cudatoolkit", ">=11", "conda"),
        ("flash-attn", "==2.5", "pip"),
    ]
    assert [text[each.start : each.end] for each in found.requirements] == [
        "pytorch-cuda=12.1",
        "cudatoolkit>=11",
        "flash-attn==2.5",
    ]
    assert [index.url for index in found.indexes] == ["nvidia"]


def test_pyproject() -> None:
    text = (
        '[project]\ndependencies = ["torch>=2", "numpy"]\n[project.optional-dependencies]\nfast = ["flash-attn"]\n'
        '[tool.poetry.dependencies]\nxformers = "^0.0.20"\napex = { version = "0.1", optional = true }\n'
        '[[tool.poetry.source]]\nurl = "https://host/cu118"\n'
    )
    scalars = read_toml(text)
    assert not isinstance(scalars, str)
    found = pyproject_requirements(scalars)
    assert [(each.name, each.specifier, each.source) for each in found.requirements] == [
        ("torch", ">=2", "pip"),
        ("numpy", "", "pip"),
        ("flash-attn", "", "pip"),
        ("xformers", "^0.0.20", "poetry"),
        ("apex", "0.1", "poetry"),
    ]
    assert [index.url for index in found.indexes] == ["https://host/cu118"]


def test_setup_cfg() -> None:
    text = (
        b"[metadata]\nname = torch\n[options]\ninstall_requires =\n  torch>=2\n  flash-attn\n"
        b"[options.extras_require]\na = apex\n"
    )
    found = read_ini(raw(plain_source("setup.cfg", text)))
    assert [each.name for each in found.requirements] == ["torch", "flash-attn", "apex"]
