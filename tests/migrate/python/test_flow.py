"""Names, kinds and the flow of strings on small programs."""

from __future__ import annotations

import ast

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.strings import string_refs
from trainwright.migrate.source import python_source


def file_of(code: str) -> PythonFile:
    source = python_source("train.py", code.encode())
    return PythonFile(source=source, tree=ast.parse(code), project=Project(), options=Options())


NAMES = [
    ("import torch.cuda as tc\ntc.synchronize", "torch.cuda.synchronize"),
    ("from torch import cuda\ncuda.Event", "torch.cuda.Event"),
    ('import torch\ngetattr(torch, "cu" + "da").Stream', "torch.cuda.Stream"),
    ("import torch\nd = torch.cuda\nd.nvtx", "torch.cuda.nvtx"),
    ('import importlib\nm = importlib.import_module("torch.cuda")\nm.is_available', "torch.cuda.is_available"),
    ("import torch\ndef torch(): ...\ntorch.cuda", ""),
    ("cuda = Config()\ncuda.synchronize", ""),
]


@pytest.mark.parametrize(("code", "name"), NAMES)
def test_names_are_resolved_through_imports_and_aliases(code: str, name: str) -> None:
    file = file_of(code)
    last = file.tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert file.named(last.value) == name


KINDS = [
    ("import torch\nx = torch.zeros(3)\nx.cuda()", "tensor"),
    ("import torch\nclass M(torch.nn.Module): ...\nm = M()\nm.cuda()", "module"),
    ("import torch\ndef f(x: torch.Tensor):\n    x.cuda()", "tensor"),
    ("def f(loss):\n    loss.backward()\n    loss.cuda()", "tensor"),
    ("import argparse\ndef f(parser):\n    parser.cuda()", None),
    ("class Unit:\n    def to(self, x): ...\nu = Unit()\nu.cuda()", "other"),
]


@pytest.mark.parametrize(("code", "kind"), KINDS)
def test_receivers_are_typed(code: str, kind: str | None) -> None:
    file = file_of(code)
    receiver = next(node for node in file.index.attributes if node.attr == "cuda").value
    assert file.kind(receiver) == kind


ROLES = [
    ('import torch\ntorch.device("cuda")', "device"),
    ('import torch\nd = "cuda" if torch.cuda.is_available() else "cpu"\ntorch.zeros(1, device=d)', "device"),
    ('import torch.distributed as dist\ndist.init_process_group("nccl")', "backend"),
    ('import torch\ndef f(x):\n    return x.device.type == "cuda"', "device"),
    ('import torch\ntorch.load("a.pt", map_location={"cuda:0": "cpu"})', "device"),
    ('import os\nos.path.join(here, "cuda", "*.cu")', None),
    ('print("install the cuda toolkit")', None),
    ('class Unit:\n    def to(self, x): ...\nUnit().to("cuda")', None),
]


@pytest.mark.parametrize(("code", "role"), ROLES)
def test_a_string_is_what_it_flows_to(code: str, role: str | None) -> None:
    refs = string_refs(file_of(code), frozenset({"cuda", "nccl"}))
    assert len(refs) == 1
    found = refs[0].role
    assert (found.kind if found else None) == role
