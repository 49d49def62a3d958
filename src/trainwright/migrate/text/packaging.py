"""Requirements that the metadata of a package names: pyproject.toml, setup.cfg."""

from __future__ import annotations

from collections.abc import Sequence

from trainwright.migrate.text.content import PackageIndex, Requirement, TextContent
from trainwright.migrate.text.requirements import requirement_at
from trainwright.migrate.text.yaml_file import Scalar

_INDEXES = (("tool", "poetry", "source"), ("tool", "uv", "index"), ("tool", "pdm", "source"))


def pyproject_requirements(scalars: Sequence[Scalar]) -> TextContent:
    """Dependencies of a project, of its build, of Poetry, and the indexes of Poetry, uv and PDM."""
    requirements: list[Requirement] = []
    indexes: list[PackageIndex] = []
    for position, scalar in enumerate(scalars):
        path = scalar.path
        if scalar.key:
            if _is_poetry(path):
                requirements.append(_poetry(scalar, scalars[position + 1 : position + 6]))
        elif scalar.inner >= 0 and _is_list(path):
            requirements += _pep508(scalar)
        elif scalar.inner >= 0 and path[-1] == "url" and path[:3] in _INDEXES:
            end = scalar.inner + len(scalar.value)
            indexes.append(PackageIndex(url=scalar.value, start=scalar.inner, end=end))
    return TextContent(requirements=tuple(requirements), indexes=tuple(indexes))


def _is_list(path: tuple[str, ...]) -> bool:
    if path[-1:] != ("[]",):
        return False
    return (
        path[:2] in (("project", "dependencies"), ("build-system", "requires"))
        or path[:2] == ("project", "optional-dependencies")
        or path[0] == "dependency-groups"
    )


def _is_poetry(path: tuple[str, ...]) -> bool:
    if path[:2] != ("tool", "poetry"):
        return False
    return (len(path) == 4 and path[2] in ("dependencies", "dev-dependencies")) or (
        len(path) == 6 and path[2] == "group" and path[4] == "dependencies"
    )


def _poetry(key: Scalar, following: Sequence[Scalar]) -> Requirement:
    version = next(
        (scalar for scalar in following if not scalar.key and scalar.path in (key.path, (*key.path, "version"))),
        None,
    )
    return Requirement(
        name=key.value,
        specifier=version.value if version else "",
        marker="",
        start=key.start,
        end=version.end if version else key.end,
        source="poetry",
    )


def _pep508(scalar: Scalar) -> list[Requirement]:
    found = requirement_at(scalar.value, 0, len(scalar.value))
    if found is None:
        return []
    return [
        Requirement(
            name=found.name,
            specifier=found.specifier,
            marker=found.marker,
            start=scalar.inner + found.start,
            end=scalar.inner + found.end,
        )
    ]
