"""TW702: calls of nvidia-smi."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark, replace
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import FileHook, Rule, StringHook
from trainwright.migrate.text.content import TEXT_LANGUAGES
from trainwright.migrate.text.smi import EVIDENCE, PROGRAM, smi_advice, smi_remarks

_RUN = ("os.system", "os.popen", "subprocess.", "asyncio.create_subprocess_", "commands.getoutput")
#: Calls that give the output to the terminal and whose value is the exit status alone.
_PRINTING = frozenset({"os.system", "subprocess.run", "subprocess.call", "subprocess.check_call"})
_CAPTURING = frozenset({"stdout", "capture_output", "text", "universal_newlines", "encoding"})


def _visit(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    if ref.value.split()[:1] != [PROGRAM]:
        return
    listed = file.parent(ref.node)
    argument = listed if isinstance(listed, ast.List | ast.Tuple) and listed.elts[0] is ref.node else ref.node
    call = file.parent(argument)
    if not isinstance(call, ast.Call) or argument not in call.args[:1]:
        return
    name = file.named(call.func)
    asks = name == "shutil.which"
    if not asks and not name.startswith(_RUN):
        return
    if _is_plain(ref, file, argument, call, name):
        new = '"npu-smi", "info"' if isinstance(argument, ast.List | ast.Tuple) else '"npu-smi info"'
        edit = replace(file, ref.node, new)
        yield remark(
            file, ref.node, number="TW702", title=PROGRAM, safety="safe", edits=(edit,), evidence=EVIDENCE, name=PROGRAM
        )
        return
    yield remark(
        file,
        argument,
        number="TW702",
        title=f"the program asks whether {PROGRAM} is there" if asks else f"{PROGRAM} is called",
        advice="Ask for npu-smi, and look at what the answer decides." if asks else smi_advice(_words(ref, argument)),
        outcome="manual",
        minutes=15,
        evidence=EVIDENCE,
        name=PROGRAM,
    )


def _words(ref: StringRef, argument: ast.expr) -> list[str]:
    listed = argument.elts[1:] if isinstance(argument, ast.List | ast.Tuple) else []
    texts = [node.value for node in listed if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [*ref.value.split()[1:], *texts]


def _is_plain(ref: StringRef, file: PythonFile, argument: ast.expr, call: ast.Call, name: str) -> bool:
    """A call without arguments whose output nobody reads."""
    alone = not isinstance(argument, ast.List | ast.Tuple) or len(argument.elts) == 1
    reads = any(keyword.arg in _CAPTURING for keyword in call.keywords)
    discarded = isinstance(file.parent(call), ast.Expr)
    return ref.value == PROGRAM and alone and not reads and discarded and name in _PRINTING


RULE = Rule(
    code="nvidia-smi",
    number="TW702",
    summary="nvidia-smi is called.",
    why="An Ascend machine has npu-smi, whose output and options differ.",
    before="nvidia-smi",
    after="npu-smi info",
    safety="safe",
    hooks=(FileHook(languages=TEXT_LANGUAGES, visit=smi_remarks), StringHook(words=("nvidia",), visit=_visit)),
)
