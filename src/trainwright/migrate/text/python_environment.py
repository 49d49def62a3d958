"""Environment variables in Python: what to say about a variable whose name is a literal, and its edits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainwright.knowledge.environment import npu_variable
from trainwright.migrate.python.edits import remark, word_edit
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.remark import Edit, Remark, Safety
from trainwright.migrate.text.environment_keys import is_environment_key
from trainwright.migrate.text.variables import value_safety

NUMBER = "TW701"
_RUN = ("os.system", "os.popen", "subprocess.", "asyncio.create_subprocess_shell")
_SET = re.compile(r"(?<![\w.])([A-Z][A-Z0-9_]*)=")
_SHOWN = re.compile(r"print|.*warn|log|info$|debug$|error$|exception$|critical$|skip")
_RANK: dict[Safety, int] = {"safe": 0, "unsafe": 1, "display": 2}


def is_first(ref: StringRef, file: PythonFile) -> bool:
    """Whether this is the first literal with this variable's name: one remark per file and variable."""
    return _literals(file, ref.value)[:1] == [ref.node]


def variable_remark(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    """The remark on all places of a variable; edits when every place is known to be the variable."""
    variable = npu_variable(ref.value)
    literals = _literals(file, ref.value)
    known = [node for node in literals if is_environment_key(file, node)]
    if variable is None or not known:
        return
    safety, reason, worst = _judged(file, ref.value, variable.safety, known)
    start, end = file.span(worst)
    note = f"About {variable.npu or variable.name}: {variable.note}." if variable.note else ""
    title = f"environment variable {ref.value}"

    def made(**fields: object) -> Remark:
        return Remark(
            number=NUMBER,
            start=start,
            end=end,
            title=title,
            name=ref.value,
            evidence=variable.evidence,
            **fields,  # type: ignore[arg-type]
        )

    if not variable.npu:
        yield made(outcome="note", detail=f"The NPU does not read it; it does no harm. {note}")
    elif variable.npu in file.source.text:
        yield made(outcome="note", detail=f"The file deals with {variable.npu}, too.")
    elif file.options.style == "agnostic":
        yield made(outcome="manual", minutes=2, advice=f"Use {variable.npu} as well on an Ascend machine. {note}")
    else:
        edits = _edits(file, known, ref.value, variable.npu)
        if safety == "display" or not edits:
            yield made(outcome="manual", minutes=5, detail=reason, advice=f"Use {variable.npu} instead. {note}")
            return
        if not _is_alone(file, ref.value, known):
            safety, reason = "unsafe", "The name also stands where it is not known to be the variable."
        yield made(safety=safety, edits=edits, detail=reason, advice=note)


def command_remarks(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    """Variables that a command sets which Python runs: ``os.system("NAME=0 program")``."""
    call = file.parent(ref.node)
    if not isinstance(call, ast.Call) or not file.named(call.func).startswith(_RUN):
        return
    for name in dict.fromkeys(_SET.findall(ref.value)):
        variable = npu_variable(name)
        if variable is not None and variable.npu:
            yield remark(
                file,
                ref.node,
                number=NUMBER,
                title=f"environment variable {name} in a command",
                advice=f"Set {variable.npu} instead. About {variable.npu}: {variable.note}.",
                outcome="manual",
                minutes=2,
                evidence=variable.evidence,
                name=name,
            )


def _literals(file: PythonFile, value: str) -> list[ast.expr]:
    return [node for node in file.index.strings if node.value == value]


def _is_alone(file: PythonFile, name: str, known: list[ast.expr]) -> bool:
    """Whether no other literal, keyword or text that is run holds the name."""
    if any(keyword.arg == name for call in file.index.calls for keyword in call.keywords):
        return False
    others = [node for node in file.index.strings if isinstance(node.value, str) and name in node.value]
    return all(node in known or _is_prose(file, node, name) for node in others)


def _is_prose(file: PythonFile, node: ast.Constant, name: str) -> bool:
    """Documentation, messages in which the name is only talked about, and longer names that it is a part of."""
    if isinstance(file.parent(node), ast.Expr):
        return True
    text = str(node.value)
    command = re.search(rf"\b{name} ?=|\$\{{?{name}|\b(?:unset|export|-e|--env) {name}", text)
    return text.strip() != name and (command is None or _is_message(file, node))


def _is_message(file: PythonFile, node: ast.AST) -> bool:
    """Whether a text is shown: printed, logged, raised, or the help on an option."""
    at, above = node, file.parent(node)
    while isinstance(above, ast.JoinedStr | ast.FormattedValue | ast.BinOp | ast.Attribute):
        at, above = above, file.parent(above)
    if isinstance(above, ast.keyword):
        return above.arg in ("help", "description", "reason", "msg")
    if isinstance(above, ast.Assert):
        return at is above.msg
    if not isinstance(above, ast.Call):
        return False
    called = above.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return isinstance(file.parent(above), ast.Raise) or bool(_SHOWN.match(name))


def _edits(file: PythonFile, nodes: list[ast.expr], name: str, new: str) -> tuple[Edit, ...]:
    edits = [word_edit(file, node, name, new) for node in nodes]
    return tuple(edit for edit in edits if edit) if all(edits) else ()


def _judged(file: PythonFile, name: str, best: Safety, known: list[ast.expr]) -> tuple[Safety, str, ast.expr]:
    """How sure the new name is with the values given to the variable, why, and the place that decides."""
    verdicts: list[tuple[Safety, str, ast.expr]] = [(best, "", known[0])]
    for node in known:
        value = file.constant(_value(file, node))
        verdicts.append((*value_safety(name, value if isinstance(value, str) else None), node))
    return max(verdicts, key=lambda verdict: _RANK[verdict[0]])


def _value(file: PythonFile, key: ast.expr) -> ast.expr | None:
    """What a key is set to, where that stands beside it."""
    above = file.parent(key)
    if isinstance(above, ast.Dict) and key in above.keys:
        return above.values[above.keys.index(key)]
    if isinstance(above, ast.Subscript):
        statement = file.parent(above)
        return statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and len(above.args) > 1:
        return above.args[1] if above.func.attr in ("setdefault", "putenv", "setenv") else None
    return None
