"""CUDA graphs become graphs of the NPU."""

from __future__ import annotations

import pytest

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.cuda_graphs import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced


def remarks_of(code: str, style: Style = "npu") -> list[Remark]:
    return scan_python(python_source("train.py", code.encode()), Project(), Options(style=style), [RULE])


def migrated(code: str) -> str:
    source = python_source("train.py", code.encode())
    remarks = compatible(remarks_of(code))
    assert all(remark.safety == "safe" for remark in remarks)
    moved = spliced(source, [edit for remark in remarks for edit in remark.edits]).decode()
    return moved.replace("import torch_npu\n", "")


UNTOUCHED = [
    "import torch\ntorch.cuda.synchronize()\n",
    "import networkx as torch\ntorch.cuda.graph(g)\n",
    "class CUDAGraph: ...\nCUDAGraph()\n",
    "from torch.cuda import CUDAGraph\nCUDAGraph()\n",  # the import moves
]


@pytest.mark.parametrize("code", UNTOUCHED)
def test_nothing_else_is_touched(code: str) -> None:
    assert remarks_of(code) == []


CHANGED = [
    ("g = torch.cuda.CUDAGraph()", "g = torch.npu.NPUGraph()"),
    ("def f(g: torch.cuda.CUDAGraph) -> None: ...", "def f(g: torch.npu.NPUGraph) -> None: ..."),
    ("f = torch.cuda.CUDAGraph.replay", "f = torch.npu.NPUGraph.replay"),
    ("g = torch.cuda.graphs.CUDAGraph()", "g = torch.npu.graphs.NPUGraph()"),
    ("with torch.cuda.graph(g, pool, s): ...", "with torch.npu.graph(g, pool, s): ..."),
    ("with torch.cuda.graph(cuda_graph=g): ...", "with torch.npu.graph(npu_graph=g): ..."),
    ("p = torch.cuda.graph_pool_handle()", "p = torch.npu.graph_pool_handle()"),
    ("m = torch.cuda.make_graphed_callables(m, (x,))", "m = torch.npu.make_graphed_callables(m, (x,))"),
]


@pytest.mark.parametrize(("before", "after"), CHANGED)
def test_graphs_are_rewritten_once(before: str, after: str) -> None:
    assert migrated(f"import torch\n{before}\n") == f"import torch\n{after}\n"
    assert remarks_of(f"import torch\n{after}\n") == []
    (found,) = remarks_of(f"import torch\n{before}\n")
    assert "beta" in found.detail


def test_an_imported_graph_is_given_by_its_new_name() -> None:
    code = "from torch.cuda import graph\nwith graph(cuda_graph=g): ...\n"
    assert migrated(code) == code.replace("cuda_graph", "npu_graph")


MANUAL = [
    ("torch.cuda.CUDAGraph(keep_graph=True)", "no arguments"),
    ("torch.cuda.graph(g, None, None, 'relaxed')", "capture_error_mode"),
    ("torch.cuda.graphs._graph(g)", "private"),
    ("torch.cuda.graphs.other(g)", "no counterpart"),
]


@pytest.mark.parametrize(("code", "why"), MANUAL)
def test_what_the_npu_does_not_take_is_left_to_a_person(code: str, why: str) -> None:
    (found,) = remarks_of(f"import torch\n{code}\n")
    assert (found.outcome, found.edits) == ("manual", ())
    assert why in found.detail


@pytest.mark.parametrize(("style", "outcome"), [("agnostic", "manual"), ("shim", "note")])
def test_the_other_styles_leave_graphs(style: Style, outcome: str) -> None:
    (found,) = remarks_of("import torch\ng = torch.cuda.CUDAGraph()\n", style)
    assert (found.outcome, found.edits) == (outcome, ())
