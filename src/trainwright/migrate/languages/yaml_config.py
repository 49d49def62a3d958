"""YAML: settings of programs, jobs of build services, compose files, clusters, conda environments."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainwright.migrate.language import Language
from trainwright.migrate.source import Source, is_binary, plain_source
from trainwright.migrate.text.content import TextContent, joined, raw
from trainwright.migrate.text.jobs import compose_uses, job_content
from trainwright.migrate.text.scan import learner, scanner
from trainwright.migrate.text.yaml_file import read_scalars, settings_of


def _matches(path: str, head: bytes) -> bool:
    return PurePosixPath(path).suffix.lower() in (".yaml", ".yml") and not is_binary(head)


def _content(source: Source) -> TextContent:
    scalars = read_scalars(source)
    if isinstance(scalars, str):
        return TextContent(problem=scalars)
    jobs = job_content(raw(source), scalars)
    return joined([settings_of(scalars), jobs, TextContent(uses=compose_uses(scalars))])


def _is_environment(source: Source) -> bool:
    """A conda environment: its packages matter whatever they are."""
    return b"dependencies:" in source.data and b"channels:" in source.data


LANGUAGE = Language(
    code="yaml-config",
    summary="YAML files: configuration, jobs of build services, compose files, conda environments.",
    matches=_matches,
    read=plain_source,
    learn=learner("yaml-config"),
    scan=scanner("yaml-config", _content, always=_is_environment),
)
