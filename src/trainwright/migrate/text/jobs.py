"""Commands, variables, images and packages in structured files: build services, compose files, clusters, conda."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from trainwright.migrate.text.content import (
    Assignment,
    Command,
    Image,
    PackageIndex,
    Requirement,
    TextContent,
    Use,
    Word,
    joined,
)
from trainwright.migrate.text.pip_commands import conda_requirement, pip_requirements
from trainwright.migrate.text.requirements import requirement_at
from trainwright.migrate.text.shell import read_shell
from trainwright.migrate.text.shell_words import assignment
from trainwright.migrate.text.yaml_file import Scalar

#: Keys whose text is run by a shell.
_SCRIPTS = frozenset({"run", "script", "before_script", "after_script", "command", "commands", "cmd", "entrypoint"})
_SCRIPTS |= {"install", "before_install", "setup", "postcreatecommand", "poststartcommand", "setup_commands"}
#: Keys whose list is the words of one command.
_WORDS = frozenset({"command", "args", "entrypoint", "cmd", "runargs", "arguments"})
_VARIABLES = frozenset({"env", "environment", "variables", "env_vars", "env_variables", "containerenv", "remoteenv"})
_IMAGES = frozenset({"image", "container", "container_image", "docker_image"})


def job_content(text: str, scalars: Sequence[Scalar]) -> TextContent:
    """What the scalars of a file say beyond being settings; `text` is raw."""
    values = [scalar for scalar in scalars if not scalar.key]
    commands = joined(_script(text, scalar) for scalar in values if _is_script(scalar))
    listed = TextContent(commands=tuple(_listed(values)))
    return joined(
        [
            commands,
            listed,
            pip_requirements(commands.commands),
            TextContent(assignments=tuple(_assignments(text, scalars)), images=tuple(_images(values))),
            _conda(scalars),
        ]
    )


def _last_key(scalar: Scalar) -> str:
    return next((part.lower() for part in reversed(scalar.path) if part != "[]"), "")


def _is_script(scalar: Scalar) -> bool:
    return _last_key(scalar) in _SCRIPTS and (scalar.block or scalar.inner >= 0)


def _script(text: str, scalar: Scalar) -> TextContent:
    if scalar.block:
        first = text.find("\n", scalar.start, scalar.end)
        return read_shell(text, first + 1, scalar.end) if first >= 0 else TextContent()
    return read_shell(text, scalar.inner, scalar.inner + len(scalar.value))


def _listed(values: Sequence[Scalar]) -> Iterator[Command]:
    """Lists of words; a list of whole commands has words with blanks and is read as scripts."""
    lists = [scalar for scalar in values if scalar.path[-1:] == ("[]",) and _last_key(scalar) in _WORDS]
    for _, group in groupby(lists, key=lambda scalar: scalar.owner):
        words = [_word(scalar) for scalar in group]
        if len(words) > 1:
            yield Command(words=tuple(words))


def _word(scalar: Scalar) -> Word:
    return Word(
        text=scalar.value,
        start=scalar.start,
        end=scalar.end,
        inner=scalar.inner,
        literal="$" not in scalar.value,
    )


def _assignments(text: str, scalars: Sequence[Scalar]) -> Iterator[Assignment]:
    for position, scalar in enumerate(scalars):
        lowered = [part.lower() for part in scalar.path]
        above = lowered[:-1]
        if scalar.inner < 0 or not (above and _VARIABLES & set(above[-3:])):
            continue
        following = scalars[position + 1] if position + 1 < len(scalars) else None
        if scalar.key and above[-1] in _VARIABLES:
            yield _named(scalar, following if following and following.path == scalar.path else None)
        elif lowered[-1] == "[]" and not scalar.key:
            word = _word(scalar)
            if found := assignment(word, text):
                yield found
        elif lowered[-2:] == ["[]", "name"] and not scalar.key:
            yield _named(scalar, _sibling(scalars[position + 1 : position + 4], scalar))


def _sibling(scalars: Iterable[Scalar], name: Scalar) -> Scalar | None:
    """``value`` beside ``name``."""
    return next(
        (
            scalar
            for scalar in scalars
            if scalar.owner == name.owner and not scalar.key and scalar.path[-1].lower() == "value"
        ),
        None,
    )


def _named(name: Scalar, value: Scalar | None) -> Assignment:
    end = name.inner + len(name.value)
    return Assignment(
        name=name.value,
        start=name.inner,
        end=end,
        value=value.value if value else "",
        value_start=value.start if value else end,
        value_end=value.end if value else end,
        literal=value is not None and value.inner >= 0 and "$" not in value.value,
    )


def _images(values: Sequence[Scalar]) -> Iterator[Image]:
    for scalar in values:
        keys = [part.lower() for part in scalar.path if part != "[]"]
        if scalar.inner >= 0 and keys and (keys[-1] in _IMAGES or (keys[-1] == "name" and keys[-2:-1] == ["image"])):
            yield Image(name=scalar.value, start=scalar.inner, end=scalar.inner + len(scalar.value))


def _conda(scalars: Sequence[Scalar]) -> TextContent:
    """``dependencies`` and ``channels`` of an environment.yml."""
    requirements: list[Requirement] = []
    channels: list[PackageIndex] = []
    tops = {scalar.path[0] for scalar in scalars if scalar.path}
    if "dependencies" not in tops:
        return TextContent()
    for scalar in scalars:
        if scalar.key or scalar.inner < 0:
            continue
        start, end = scalar.inner, scalar.inner + len(scalar.value)
        if scalar.path == ("channels", "[]"):
            channels.append(PackageIndex(url=scalar.value, start=start, end=end, source="conda"))
        elif scalar.path == ("dependencies", "[]"):
            requirements += _moved(conda_requirement(scalar.value), start)
        elif scalar.path == ("dependencies", "[]", "pip", "[]"):
            requirements += _moved(requirement_at(scalar.value, 0, len(scalar.value)), start)
    return TextContent(requirements=tuple(requirements), indexes=tuple(channels))


def _moved(found: Requirement | None, by: int) -> list[Requirement]:
    if found is None:
        return []
    return [
        Requirement(
            name=found.name,
            specifier=found.specifier,
            marker=found.marker,
            start=found.start + by,
            end=found.end + by,
            source=found.source,
        )
    ]


def compose_uses(scalars: Sequence[Scalar]) -> tuple[Use, ...]:
    """``${NAME:-default}`` in values that no shell reads, as compose files have them."""
    found = []
    for scalar in scalars:
        if scalar.inner < 0 or _is_script(scalar) or "$" not in scalar.value:
            continue
        inner = read_shell(scalar.value).uses
        found += [Use(name=use.name, start=scalar.inner + use.start, end=scalar.inner + use.end) for use in inner]
    return tuple(found)
