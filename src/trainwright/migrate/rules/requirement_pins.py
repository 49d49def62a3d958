"""TW602: a requirement that cannot be met, or should not be, where there is an NPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainwright.knowledge.libraries import normal_name
from trainwright.migrate.document import Document
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import FileHook, NameHook, Rule
from trainwright.migrate.text.content import TEXT_LANGUAGES, PackageIndex, Requirement, TextContent
from trainwright.migrate.text.pins import judged, split_requirement

if TYPE_CHECKING:
    from trainwright.migrate.python.module import NameRef, PythonFile

_NUMBER = "TW602"
_CUDA_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:\w+/)?cu\d+|pypi\.(?:ngc\.)?nvidia\.com|^nvidia(?:/|$)")
_SETUPS = ("setuptools.setup", "distutils.core.setup", "skbuild.setup")
_LISTS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require"})


def visit_document(document: Document) -> Iterator[Remark]:
    """Requirements and package indexes of a file that lists them."""
    content: TextContent = document.content
    for requirement in content.requirements:
        found = judged(requirement.name, requirement.specifier, requirement.marker)
        if found is not None:
            yield Remark(number=_NUMBER, start=requirement.start, end=requirement.end, **vars(found))
    yield from filter(None, map(_index, content.indexes))
    yield from _missing(content.requirements)


def _index(index: PackageIndex) -> Remark | None:
    if not _CUDA_INDEX.search(index.url):
        return None
    return Remark(
        number=_NUMBER, start=index.start, end=index.end, title=f"{index.url} holds packages for CUDA",
        advice="Remove it: torch without CUDA and torch-npu are on the default index.",
        outcome="manual", minutes=5, evidence="torch-npu on the package index", name=index.url,
    )  # fmt: skip


def _missing(requirements: tuple[Requirement, ...]) -> Iterator[Remark]:
    """Torch is asked for, and nothing that lets it use an NPU."""
    names = {normal_name(requirement.name): requirement for requirement in requirements}
    torch = names.get("torch") or names.get("pytorch")
    if torch is not None and "torch-npu" not in names:
        yield Remark(
            number=_NUMBER, start=torch.start, end=torch.end, title="torch-npu is not asked for beside torch",
            detail="Without torch-npu, torch knows no device called npu.",
            advice="Add torch-npu of the same version as torch.", outcome="manual", minutes=5,
            evidence="torch-npu on the package index: one release for each of torch", name="torch-npu",
        )  # fmt: skip


def visit_setup(reference: NameRef, file: PythonFile) -> Iterator[Remark]:
    """Requirements written out in a call of ``setup``."""
    for keyword in reference.call.keywords if reference.call else ():
        if keyword.arg not in _LISTS:
            continue
        for node in ast.walk(keyword.value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_key(node, file):
                found = judged(*split_requirement(node.value))
                if found is not None:
                    start, end = file.span(node)
                    yield Remark(number=_NUMBER, start=start, end=end, **vars(found))


def _is_key(node: ast.Constant, file: PythonFile) -> bool:
    """The name of an extra, not a requirement."""
    parent = file.parent(node)
    return isinstance(parent, ast.Dict) and any(key is node for key in parent.keys)


RULE = Rule(
    code="requirement-pins",
    number=_NUMBER,
    summary="Requirements of CUDA builds, of GPU-only libraries, and of versions before NPU support.",
    why="The installation fails on a machine with NPUs, or installs a build that cannot use them.",
    before="torch==2.1.0+cu118",
    after="torch==2.1.0\ntorch-npu==2.1.0",
    hooks=(
        FileHook(languages=TEXT_LANGUAGES, visit=visit_document),
        NameHook(names=_SETUPS, visit=visit_setup),
    ),
)
