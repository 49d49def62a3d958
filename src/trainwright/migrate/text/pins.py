"""What to say about a requirement: a distribution and the versions that are asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trainwright.knowledge.libraries import Library, distribution, normal_name
from trainwright.migrate.python.library_imports import sentence, there_is
from trainwright.migrate.remark import Outcome

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;)@]*)\)?(?:@[^;]*)?(?:;(.*))?", re.S)
_UPPER = re.compile(r"(===|==|=|<=|<|~=)\s*v?(\d+(?:\.\d+)*)([\w.*+-]*)")
_CUDA_BUILD = re.compile(r"\+cu\d+|=\*?cuda|[_*]cuda|cu\d{2,3}\b")
#: The requirement holds on other systems alone: there is no NPU there.
_ELSEWHERE = re.compile(
    r"""(?:sys_platform|platform_system|os_name)\s*==\s*['"](?:darwin|win32|Darwin|Windows|nt)['"]"""
)
#: Distributions that are built for one CUDA version each.
_TORCH = frozenset({"torch", "pytorch", "torchvision", "torchaudio"})


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What is said of a requirement; the fields are those of a remark."""

    title: str
    detail: str
    advice: str
    outcome: Outcome
    minutes: int
    evidence: str
    name: str


def split_requirement(text: str) -> tuple[str, str, str]:
    """Name, versions and marker of a requirement as `setup` takes them; three empty texts when it is none."""
    match = _REQUIREMENT.match(text)
    name, specifier, marker = match.groups() if match else ("", "", "")
    return name or "", (specifier or "").strip(), (marker or "").strip()


def judged(name: str, specifier: str, marker: str = "") -> Judgement | None:
    """What is said of a requirement; None when it can stay as it is."""
    if _ELSEWHERE.search(marker):
        return None
    if normal_name(name) in _TORCH and _CUDA_BUILD.search(specifier):
        return _cuda_build(name, specifier)
    entry = distribution(name)
    if entry is None:
        return None
    if entry.status == "native" or (entry.status == "partial" and entry.min_version):
        return _too_old(entry, name, specifier) if is_below(specifier, entry.min_version) else _partly(entry, name)
    return _judgement(entry, name, _TITLES[entry.status].format(name=name))


_TITLES = {
    "plugin": "{name} needs a plugin on the NPU",
    "adaptor": "{name} needs an adaptor on the NPU",
    "partial": "{name} works on the NPU in part",
    "replace": "{name} is not for the NPU",
    "port": "{name} has to be ported to the NPU",
    "none": "{name} has no NPU counterpart",
}


def _partly(entry: Library, name: str) -> Judgement | None:
    return _judgement(entry, name, _TITLES["partial"].format(name=name)) if entry.status == "partial" else None


def _too_old(entry: Library, name: str, specifier: str) -> Judgement:
    return _judgement(entry, name, f"{name} {specifier} is too old for the NPU: {entry.min_version} is the first")


def _judgement(entry: Library, name: str, title: str) -> Judgement:
    return Judgement(
        title=title,
        detail=there_is(entry),
        advice=sentence(entry.advice),
        outcome="manual",
        minutes=5,
        evidence=entry.evidence,
        name=normal_name(name),
    )


def _cuda_build(name: str, specifier: str) -> Judgement:
    return Judgement(
        title=f"{name} {specifier} asks for a CUDA build",
        detail="The NPU needs the build without CUDA, and torch-npu of the same version beside torch.",
        advice="Leave out the part that names CUDA and add torch-npu of the same version as torch.",
        outcome="manual",
        minutes=5,
        evidence="torch-npu on the package index: one release for each of torch",
        name=normal_name(name),
    )


def is_below(specifier: str, version: str) -> bool:
    """Whether all versions asked for (``==4.28.1``, ``<0.20``, ``~=0.4.0``) lie below `version`."""
    return bool(version) and any(_clause_is_below(clause.strip(), _parts(version)) for clause in specifier.split(","))


def _clause_is_below(clause: str, first: list[int]) -> bool:
    match = _UPPER.match(clause)
    if match is None:
        return False
    operator, text, rest = match.groups()
    asked = _parts(text)
    # ``~=4.28.1`` ends where 4.29 begins, ``==4.28.*`` too: the part that is held fixed, plus one.
    held = asked[:-1] if operator == "~=" else asked if rest.startswith((".*", "*")) else []
    if held:
        return _padded(*held[:-1], held[-1] + 1) <= _padded(*first)
    return _padded(*asked) < _padded(*first) or (operator == "<" and _padded(*asked) == _padded(*first))


def _parts(text: str) -> list[int]:
    return [int(part) for part in text.split(".")]


def _padded(*parts: int) -> tuple[int, ...]:
    """Versions compare as if the shorter one went on with zeros."""
    return (*parts, *[0] * (6 - len(parts)))
