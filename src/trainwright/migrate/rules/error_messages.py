"""TW110: messages of CUDA errors that the code looks for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, word_edit
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import Rule, StringHook

_MEMORY = re.compile(r"cuda out of memory\b", re.IGNORECASE)
_ERROR = re.compile(r"\b(?:cuda|cublas|cudnn|nccl)(?:[_ ]\w+){0,2}[_ ]error\b|\bcuda error\b", re.IGNORECASE)


def _visit(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    if not _is_looked_for(ref.node, file):
        return
    if found := _MEMORY.match(ref.value):
        edit = word_edit(file, ref.node, found[0][: len("cuda out")], "out")
        shim = file.options.style == "shim"
        yield remark(
            file, ref.node, number=RULE.number, title=f'message "{found[0]}"', name="out of memory",
            detail='torch_npu says "NPU out of memory".', confidence="inferred", evidence="source of torch_npu 2.8",
            advice="" if edit and not shim else 'look for "out of memory", which both devices say',
            outcome="replaced" if edit and not shim else "manual", safety="safe" if edit and not shim else "display",
            edits=(edit,) if edit and not shim else (), minutes=0 if edit and not shim else 3,
        )  # fmt: skip
    elif _ERROR.search(ref.value):
        yield remark(
            file, ref.node, number=RULE.number, title=f'message "{ref.value[:40]}"', name="error message",
            detail="Errors of the NPU have other messages.", confidence="inferred", outcome="manual", minutes=10,
            advice="catch RuntimeError; where the kind of error counts, look for the code that CANN gives, such as "
            "EZ9999 or 507018",
        )  # fmt: skip


def _is_looked_for(node: ast.AST, file: PythonFile) -> bool:
    """``"CUDA out of memory" in str(error)``, and the same through ``any(text in message for text in (...))``."""
    above = file.parent(node)
    if isinstance(above, ast.Compare):
        return above.left is node and isinstance(above.ops[0], ast.In | ast.NotIn)
    if isinstance(above, ast.List | ast.Tuple | ast.Set):
        loop = file.parent(above)
        return isinstance(loop, ast.comprehension) and loop.iter is above and _asks_in(file.parent(loop))
    return False


def _asks_in(whole: ast.AST | None) -> bool:
    test = getattr(whole, "elt", None)
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In | ast.NotIn)


RULE = Rule(
    code="error-messages",
    number="TW110",
    summary="The code looks for the message of a CUDA error.",
    why="Errors of the NPU have messages of their own: the handler is passed by, and a program that lowered its batch "
    "size when memory ran out ends instead.",
    before='if "CUDA out of memory" in str(error): ...',
    after='if "out of memory" in str(error): ...',
    safety="safe",
    hooks=(StringHook(words=("cuda", "cublas", "cudnn", "nccl"), visit=_visit),),
)
