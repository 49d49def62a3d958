"""TOML: settings of programs, and the requirements in pyproject.toml."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, joined, raw
from trainwright.migrate.text.jobs import job_content
from trainwright.migrate.text.packaging import pyproject_requirements
from trainwright.migrate.text.scan import learner, scanner
from trainwright.migrate.text.toml_file import read_toml
from trainwright.migrate.text.yaml_file import settings_of


def _matches(path: str, head: bytes) -> bool:
    return PurePosixPath(path).suffix.lower() == ".toml" and not is_binary(head)


def _content(source: Source) -> TextContent:
    text = raw(source)
    scalars = read_toml(text)
    if isinstance(scalars, str):
        return TextContent(problem=scalars)
    packages = pyproject_requirements(scalars) if _is_pyproject(source) else TextContent()
    return joined([settings_of(scalars), job_content(text, scalars), packages])


def _is_pyproject(source: Source) -> bool:
    return source.name == "pyproject.toml"


LANGUAGE = Language(
    code="toml-config",
    summary="TOML files: configuration, and requirements in pyproject.toml.",
    matches=_matches,
    read=plain_source,
    learn=learner("toml-config"),
    scan=scanner("toml-config", _content, always=_is_pyproject),
)
