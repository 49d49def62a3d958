"""Blockers that are none: code for ROCm, behind a way for the NPU, or passed by where CUDA is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from trainwright.migrate.native.read import is_copied
from trainwright.migrate.native.rocm import is_rocm_path
from trainwright.migrate.python.conditions import CudaTerm, npu_term, rocm_term, words
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.regions import Region, branches, named_definitions, tests_of, without
from trainwright.migrate.remark import Remark

_ROCM_TEXT = re.compile(r"rocm|hip|amd|gfx", re.IGNORECASE)
_ROCM_NAMES = frozenset(("rocm", "hip", "aiter"))
_NPU_TEXT = re.compile(r"npu", re.IGNORECASE)
_MISSING = frozenset(("ImportError", "ModuleNotFoundError", "AttributeError", "NotImplementedError"))
#: What a method for CUDA has beside it in a class that chooses by platform.
_OTHER_WAYS = ("native", "npu", "cpu", "torch", "oot", "pytorch", "default")


def settled(file: PythonFile, remarks: Iterable[Remark]) -> list[Remark]:
    """The remarks, those notes that say "blocked" about code an NPU machine never gets to."""
    found = list(remarks)
    places = _Places(file, found)
    return [_judged(remark, places) for remark in found]


def _judged(remark: Remark, places: _Places) -> Remark:
    if remark.edits or remark.outcome not in ("blocked", "manual"):
        return remark
    if _within(remark, places.rocm):
        return _note(remark, "It is for ROCm; an NPU machine does not run it.", "")
    if remark.outcome != "blocked" and remark.number != "TW607":
        return remark
    if places.copied:
        return _note(remark, "It belongs to a library whose sources are kept in this project.", "")
    if places.sibling:
        return _note(remark, f"The project has a file of its own for the NPU: {places.sibling}.", "")
    region = _within(remark, places.npu)
    if region is not None:
        where = f" in line {region.line}" if region.line else ""
        return _note(remark, f"The project has a way of its own for the NPU{where}.", "")
    region = _within(remark, places.cuda)
    if region is not None:
        instead = f"line {region.line} runs" if region.line else "it is passed by"
        if remark.number == "TW606":  # whoever calls what it builds needs another way all the same
            return replace(remark, detail=f"{remark.detail} It runs only where CUDA is.".strip(), outcome="manual")
        return _note(remark, f"It runs only where CUDA is; without it {instead}.", remark.advice)
    return remark


def _note(remark: Remark, why: str, advice: str) -> Remark:
    detail = " ".join(filter(None, (remark.detail, why)))
    lead = "Nothing has to be done"
    text = f"{lead}; for speed: {advice[:1].lower()}{advice[1:]}" if advice else f"{lead}."
    return replace(remark, detail=detail, advice=text, outcome="note", minutes=0)


def _within(remark: Remark, regions: list[Region]) -> Region | None:
    return next((region for region in regions if region.span[0] <= remark.start < region.span[1]), None)


class _Places:
    """The regions of one file, each kind found when it is first asked for."""

    def __init__(self, file: PythonFile, remarks: list[Remark]) -> None:
        self._file = file
        self._edited = tuple(
            (edit.start, edit.end) for remark in remarks if remark.safety == "safe" for edit in remark.edits
        )

    @cached_property
    def copied(self) -> bool:
        """The file is one of another project."""
        return is_copied(self._file.source.path)

    @cached_property
    def sibling(self) -> str:
        """The file that does for the NPU what this one does for CUDA."""
        path = self._file.source.path
        other = path.replace("cuda", "npu")
        return other if other != path and other in self._file.project.files else ""

    @cached_property
    def _tests(self) -> list[ast.AST]:
        return tests_of(self._file)

    @cached_property
    def rocm(self) -> list[Region]:
        """Code for AMD GPUs."""
        file = self._file
        if is_rocm_path(file.source.path):
            return [Region(span=(0, len(file.source.data)), line=0)]
        if not _ROCM_TEXT.search(file.source.text):
            return []
        return [*branches(file, self._tests, rocm_term), *named_definitions(file, _is_for_rocm)]

    @cached_property
    def npu(self) -> list[Region]:
        """Branches for the NPU, and what is left to other devices by them."""
        file = self._file
        if not _NPU_TEXT.search(file.source.text):
            return []
        return [*branches(file, self._tests, npu_term), *without(file, self._tests, npu_term)]

    @cached_property
    def cuda(self) -> list[Region]:
        """What is passed by, or caught, without CUDA."""
        file = self._file
        term = CudaTerm(file, self._edited)
        return [*branches(file, self._tests, term, fallback=True), *_caught(file), *_dispatched(file)]


def _is_for_rocm(node: ast.FunctionDef | ast.ClassDef) -> bool:
    if not _ROCM_NAMES.isdisjoint(words(node.name)) or "rocm" in node.name.lower():
        return True
    return any(_skips_elsewhere(decorator) for decorator in node.decorator_list)


def _skips_elsewhere(decorator: ast.expr) -> bool:
    """``@pytest.mark.skipif(not current_platform.is_rocm(), ...)``."""
    if not isinstance(decorator, ast.Call) or not decorator.args:
        return False
    test = decorator.args[0]
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and rocm_term(test.operand) > 0


def _caught(file: PythonFile) -> list[Region]:
    """Blocks whose handler takes over when something is missing; one that raises, or takes every error, does not."""
    found = []
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
                raises = any(isinstance(part, ast.Raise) for part in ast.walk(handler))
                if names & _MISSING and not raises:
                    span = file.span(node.body[0])[0], file.span(node.body[-1])[1]
                    found.append(Region(span=span, line=handler.lineno))
                    break
    return found


def _dispatched(file: PythonFile) -> list[Region]:
    """Methods for CUDA of classes that have another for the platforms they do not name."""
    found = []
    for owner in file.index.classes:
        methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
        for name, node in methods.items():
            stem = name.removesuffix("_cuda")
            other = next((methods[f"{stem}_{way}"] for way in _OTHER_WAYS if f"{stem}_{way}" in methods), None)
            if stem != name and other is not None:
                found.append(Region(span=file.span(node), line=other.lineno))
    return found
