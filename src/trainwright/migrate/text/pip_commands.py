"""Requirements and package indexes in commands: ``pip install``, ``uv pip install``, ``conda install``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainwright.migrate.text.content import Command, PackageIndex, Requirement, TextContent, Word
from trainwright.migrate.text.requirements import Origin, requirement_at

_INDEX = frozenset({"--extra-index-url", "--index-url", "-i", "--find-links", "-f"})
_CHANNEL = frozenset({"-c", "--channel"})
#: Options that take a value that is no requirement.
_VALUES = _INDEX | _CHANNEL | {"-r", "--requirement", "--constraint", "-e", "--editable", "-t", "--target", "-n"}
_VALUES |= {"--name", "-p", "--prefix", "--timeout", "--trusted-host", "--python", "--cache-dir", "--platform"}
_INSTALLERS: dict[str, Origin] = {"pip": "pip", "pip3": "pip", "uv": "pip", "conda": "conda", "mamba": "conda"}


def pip_requirements(commands: Iterable[Command]) -> TextContent:
    """What the commands of a script install, and from where."""
    requirements: list[Requirement] = []
    indexes: list[PackageIndex] = []
    for command in commands:
        origin, arguments = _install(command.words)
        if origin is not None:
            _arguments(arguments, origin, requirements, indexes)
    return TextContent(requirements=tuple(requirements), indexes=tuple(indexes))


def _install(words: Sequence[Word]) -> tuple[Origin | None, Sequence[Word]]:
    texts = [word.text.rpartition("/")[2] for word in words]
    for position, text in enumerate(texts):
        if text == "install" and position:
            origin = next((_INSTALLERS[name] for name in texts[:position] if name in _INSTALLERS), None)
            return origin, words[position + 1 :]
    return None, ()


def _arguments(
    words: Sequence[Word], origin: Origin, requirements: list[Requirement], indexes: list[PackageIndex]
) -> None:
    before = ""
    for word in words:
        option, equals, value = word.text.partition("=")
        wanted = _INDEX if origin == "pip" else _CHANNEL
        if before in wanted:
            indexes.append(PackageIndex(url=word.text, start=word.start, end=word.end, source=origin))
        elif equals and option in wanted:
            indexes.append(PackageIndex(url=value, start=word.start, end=word.end, source=origin))
        elif not word.text.startswith("-") and before not in _VALUES and (found := _requirement(word, origin)):
            requirements.append(found)
        before = word.text


def _requirement(word: Word, origin: Origin) -> Requirement | None:
    if word.inner < 0 or word.text.startswith((".", "/")) or word.text.endswith((".whl", ".txt", ".tar.gz")):
        return None
    found = conda_requirement(word.text) if origin == "conda" else requirement_at(word.text, 0, len(word.text))
    if found is None:
        return None
    return Requirement(
        name=found.name,
        specifier=found.specifier,
        marker=found.marker,
        start=word.inner + found.start,
        end=word.inner + found.end,
        source=origin,
    )


def conda_requirement(text: str) -> Requirement | None:
    """``nvidia::cuda-toolkit=12.1``, ``pytorch>=2.1``: conda's own way to write one."""
    lead = text.rpartition("::")[0]
    begin = len(lead) + 2 if lead else 0
    end = begin
    while end < len(text) and (text[end].isalnum() or text[end] in "._-"):
        end += 1
    name = text[begin:end]
    if not name or not name[0].isalpha():
        return None
    return Requirement(
        name=name, specifier=text[end:].strip(), marker="", start=begin, end=len(text.rstrip()), source="conda"
    )
