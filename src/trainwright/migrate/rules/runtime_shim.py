"""TW109: the import that lets torch_npu stand in for CUDA while the program runs (style ``shim`` only)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.registration import before_imports
from trainwright.migrate.python.usage import is_own_package
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import FileHook, Rule

_NAME = "torch_npu.contrib.transfer_to_npu"
_LINE = "from torch_npu.contrib import transfer_to_npu"


def _visit(file: PythonFile) -> Iterator[Remark]:
    """Once per program, before every other import: names bound earlier would stay those of CUDA."""
    if file.options.style != "shim" or not _is_entry_point(file.tree) or not _uses_torch(file):
        return
    if any(ref.name.startswith(_NAME) for ref in file.import_refs):
        return
    edit = before_imports(file, _LINE)
    yield remark(
        file,
        file.statement(file.tree.body[0]),
        number=RULE.number,
        title="the program starts here without transfer_to_npu",
        detail="The import replaces torch.cuda, device names and NCCL at run time. It does not reach strings in other "
        "libraries, turns torch.jit.script off and makes float64 tensors float32.",
        safety="safe",
        edits=(edit,),
        evidence="torch_npu/contrib/transfer_to_npu.py",
    )


def _is_entry_point(tree: ast.Module) -> bool:
    tests = (node.test for node in tree.body if isinstance(node, ast.If))
    return any(
        isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
        for test in tests
    )


def _uses_torch(file: PythonFile) -> bool:
    """Whether the program imports torch, or modules of the project in which it may be used."""
    return any(
        ref.name.partition(".")[0] == "torch" or is_own_package(ref.name, file)
        for ref in file.import_refs
        if not ref.typing_only
    )


RULE = Rule(
    code="runtime-shim",
    number="TW109",
    summary="A program starts without the import that makes torch_npu stand in for CUDA (style shim only).",
    why="With --style shim nothing else is rewritten: this one import, where the program starts, does the work at run "
    "time.",
    before="import torch",
    after="from torch_npu.contrib import transfer_to_npu\nimport torch",
    safety="safe",
    hooks=(FileHook(languages=("python",), visit=_visit),),
)
