"""TW402: CUDA graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.knowledge.cuda_names import RENAMED, is_private, npu_attribute
from trainwright.migrate.python.edits import carrier, remark, rename_attribute
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import NameHook, Rule

_NAMES = ("CUDAGraph", "graph", "graphs", "make_graphed_callables", "graph_pool_handle")
_EVIDENCE = "torch_npu 2.8 API support table; torch_npu/npu/graphs.py"
_LIMITS = (
    "The API support table states limits for it and torch_npu calls it beta: compare the results of a replay with "
    "those of the plain code once."
)


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    title = f"CUDA graphs: {ref.name}"
    fields = {"number": RULE.number, "title": title, "name": ref.name, "confidence": ref.confidence}
    if file.options.style == "shim":
        known = not ref.name.startswith("torch.cuda.graphs")
        detail = "transfer_to_npu puts the names of torch_npu.npu here." if known else ""
        yield remark(file, ref.node, outcome="note", detail=detail, **fields)
        return
    why = _refusal(ref, file)
    if why:
        advice = "write it for torch.npu: NPUGraph(), graph(npu_graph, pool, stream), make_graphed_callables"
        yield remark(
            file, ref.node, outcome="manual", detail=why, advice=advice, minutes=15, evidence=_EVIDENCE, **fields
        )
        return
    edits = (*_spelled(ref, file), *_arguments(ref, file))
    if edits:
        yield remark(
            file, ref.node, safety="safe", edits=edits, registers=True, detail=_LIMITS, evidence=_EVIDENCE, **fields
        )


def _refusal(ref: NameRef, file: PythonFile) -> str:
    """Why a place is left to a person; empty when it is not."""
    if file.options.style == "agnostic":
        return "torch.accelerator has no graphs: choose between torch.cuda and torch.npu by the device."
    if is_private(ref.name):
        return "The name is private: the public names of torch_npu do not say whether it has it."
    if npu_attribute(ref.name) is None:
        return f"{ref.name} has no counterpart in torch.npu."
    call, last = ref.call, ref.name.rpartition(".")[2]
    if call is None:
        return ""
    if last == "CUDAGraph" and (call.args or call.keywords):
        return "NPUGraph() takes no arguments: a graph cannot be kept to be instantiated later."
    if last == "graph" and len(call.args) > 3:
        return "The fourth positional argument has another meaning: name it capture_error_mode."
    return ""


def _spelled(ref: NameRef, file: PythonFile) -> Iterator[Edit]:
    """Edits of the parts that spell the name; none where an import or an alias elsewhere does."""
    spelled = carrier(file, ref.node, "torch.cuda")
    if not isinstance(spelled, ast.Attribute):
        return
    yield rename_attribute(file, spelled, "npu")
    node: ast.AST = ref.node
    while isinstance(node, ast.Attribute) and node is not spelled:
        if node.attr in RENAMED:
            yield rename_attribute(file, node, RENAMED[node.attr])
        node = node.value


def _arguments(ref: NameRef, file: PythonFile) -> Iterator[Edit]:
    """The graph is given to ``torch.npu.graph`` by another name."""
    if ref.call is not None and ref.name.endswith(".graph"):
        for keyword in ref.call.keywords:
            if keyword.arg == "cuda_graph":
                start, _ = file.span(keyword)
                yield Edit(start=start, end=start + len("cuda_graph"), new="npu_graph")


RULE = Rule(
    code="cuda-graphs",
    number="TW402",
    summary="Work is recorded in a CUDA graph.",
    why="torch.npu records graphs with the same functions, but its class is NPUGraph, and not every operator and not "
    "every argument of CUDA graphs is taken.",
    before="g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g): y = model(x)",
    after="g = torch.npu.NPUGraph()\nwith torch.npu.graph(g): y = model(x)",
    safety="safe",
    hooks=(NameHook(names=tuple(f"torch.cuda.{name}.*" for name in _NAMES), visit=_visit),),
)
