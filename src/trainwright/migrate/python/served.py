"""Code that serves the NPU already: its branches for CUDA are meant for CUDA, and stay; the rest waits for a word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace

from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.remark import Remark

_NPU = re.compile(r"(?<![A-Za-z])npu(?![A-Za-z])|hccl", re.IGNORECASE)
_SIBLING = "This file has a sibling for the NPU."
_BRANCH = "The code around this already has a way for the NPU."
_LEFT = "This is the way for CUDA beside one for the NPU; it stays as it is."
_VALUES = ast.Set | ast.Tuple | ast.List | ast.Dict | ast.Compare | ast.BoolOp | ast.IfExp


def held_back(file: PythonFile, remarks: Iterable[Remark]) -> list[Remark]:
    """The remarks, those edits unsafe that stand in a file with an NPU sibling or in a function that knows the NPU."""
    path = file.source.path
    sibling = "cuda" in path and path.replace("cuda", "npu") in file.project.files
    known = sibling or _NPU.search(file.source.text) is not None
    if not known:
        return list(remarks)
    spans = _spans(file)
    return [_held(file, remark, spans, sibling) for remark in remarks]


def _held(file: PythonFile, remark: Remark, spans: list[tuple[int, int]], sibling: bool) -> Remark:
    if remark.safety != "safe":
        return remark
    reason = _SIBLING if sibling else ""
    if not sibling:
        line = file.source.position(remark.start)[0]
        around = [span for span in spans if span[0] <= line <= span[1]]
        first, last = min(around, key=lambda span: span[1] - span[0], default=(line, line))
        starts = file.source.line_starts
        end = starts[last] if last < len(starts) else len(file.source.text)
        reason = _BRANCH if _NPU.search(file.source.text, starts[first - 1], end) else ""
    if not reason:
        return remark
    if reason == _BRANCH and _is_way_for_cuda(file, remark):
        return replace(remark, safety="display", outcome="note", edits=(), registers=False, minutes=0, detail=_LEFT)
    return replace(remark, safety="unsafe", detail=" ".join(filter(None, (remark.detail, reason))))


def _is_way_for_cuda(file: PythonFile, remark: Remark) -> bool:
    """Whether a place is CUDA's part of a choice between devices: to write npu there would name the NPU twice."""
    node: ast.AST | None = _node_at(file, remark)
    above = file.parent(node) if node is not None else None
    while node is not None and above is not None and not isinstance(above, ast.FunctionDef | ast.ClassDef):
        if isinstance(above, _VALUES) and (_names(above, "npu") or _compares_with_cuda(above)):
            return True
        inside = isinstance(above, ast.If) and node is not above.test and node not in above.orelse
        if inside and isinstance(above, ast.If) and _compares_with_cuda(above.test):
            return True
        node, above = above, file.parent(above)
    return False


def _node_at(file: PythonFile, remark: Remark) -> ast.expr | None:
    line = file.source.position(remark.start)[0]
    for node in (*file.index.strings, *file.index.attributes, *file.index.names):
        if node.lineno == line and file.span(node)[0] == remark.start:
            return node
    return None


def _names(node: ast.AST, device: str) -> bool:
    return any(isinstance(part, ast.Constant) and part.value == device for part in ast.walk(node))


def _compares_with_cuda(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Compare) and _names(part, "cuda") for part in ast.walk(node))


def _spans(file: PythonFile) -> list[tuple[int, int]]:
    """First and last line of every function, and of every statement at the top of the module and of classes."""
    blocks = [file.tree.body, *(node.body for node in file.index.classes)]
    nodes = [*file.index.functions, *(node for body in blocks for node in body)]
    return [(node.lineno, node.end_lineno or node.lineno) for node in nodes]
