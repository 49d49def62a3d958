"""Rules of the user, written in YAML::

    - code: MY001
      name: ourlib.cuda_allreduce       # or `call:`, for calls only
      replace: ourlib.npu_allreduce     # optional; without it the place is only reported
      message: ourlib.cuda_allreduce runs on CUDA only
      advice: use ourlib.npu_allreduce of ourlib 2.0 or later
      safety: unsafe                    # safe, unsafe (default) or display

They apply to Python files. A reference is replaced where the file already imports what the new name begins with;
elsewhere the place is reported with what to write.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainwright.core.errors import InputError
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.remark import Confidence, Edit, Remark, Safety
from trainwright.migrate.rule import NameHook, Rule
from trainwright.migrate.source import Source

if TYPE_CHECKING:
    from trainwright.migrate.python.module import NameRef, PythonFile

_KEYS = ("code", "name", "call", "replace", "message", "advice", "safety")
_CODE = re.compile(r"[A-Z]{2,8}[0-9]{1,5}")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_SAFETY: tuple[Safety, ...] = ("safe", "unsafe", "display")
_MOST_BYTES = 1 << 20
_EVIDENCE = "rule of the user"


@dataclass(frozen=True, kw_only=True)
class UserRule:
    """One rule: references to `name` (only calls when `calls_only`) become `replace`, or are reported."""

    code: str
    name: str
    calls_only: bool = False
    replace: str = ""
    message: str = ""
    advice: str = ""
    safety: Safety = "unsafe"

    @property
    def sentence(self) -> str:
        """What the rule says, in one sentence."""
        return self.message or (f"{self.name} becomes {self.replace}" if self.replace else f"{self.name} is used")


def load_rules(path: Path) -> tuple[UserRule, ...]:
    """The rules in a YAML file.

    Raises:
        InputError: the file cannot be read, or a rule in it is not as it must be.
    """
    import yaml

    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} is larger than {_MOST_BYTES:,} bytes", allowed="a list of rules in YAML")
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", todo="check the name given with --rules") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is no YAML file: {reason}", todo="correct it") from error
    if not isinstance(document, list) or not document:
        raise InputError(f"{path} holds no list of rules", allowed="- code: MY001, with name, replace, message, advice")
    rules = tuple(_rule(f"{path}, rule {at}", item) for at, item in enumerate(document, 1))
    codes = [rule.code for rule in rules]
    twice = next((code for code in codes if codes.count(code) > 1), None)
    if twice:
        raise InputError(f"{path}: two rules are called {twice}", todo="give each a code of its own")
    return rules


def _rule(where: str, item: Any) -> UserRule:
    if not isinstance(item, dict):
        raise InputError(f"{where} is not a mapping", allowed=", ".join(_KEYS))
    for key, value in item.items():
        if key not in _KEYS:
            close = difflib.get_close_matches(str(key), _KEYS, n=1)
            todo = f"did you mean {close[0]!r}" if close else "remove it"
            raise InputError(f"{where}: unknown key {key!r}", allowed=", ".join(_KEYS), todo=todo)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{where}: {key} is {value!r}", allowed="text", todo="put it in quotes")
    fields = {key: value.strip() for key, value in item.items()}
    if ("name" in fields) == ("call" in fields):
        raise InputError(f"{where} needs one of name and call", allowed="name: pkg.thing, or call: pkg.function")
    _check(where, "code", fields.get("code", ""), _CODE, "capital letters and digits, such as MY001")
    if fields["code"].startswith("TW"):
        raise InputError(f"{where}: code {fields['code']} begins with TW", allowed="codes of your own, such as MY001")
    for key in ("name", "call", "replace"):
        if key in fields:
            _check(where, key, fields[key], _DOTTED, "a full dotted name, such as torch.cuda.synchronize")
    safety = fields.get("safety", "unsafe" if "replace" in fields else "display")
    if safety not in _SAFETY:
        raise InputError(f"{where}: safety is {safety!r}", allowed=", ".join(_SAFETY))
    if safety != "display" and "replace" not in fields:
        raise InputError(f"{where}: safety {safety} without replace", todo="add `replace`, or use safety: display")
    return UserRule(
        code=fields["code"],
        name=fields.get("name") or fields["call"],
        calls_only="call" in fields,
        replace=fields.get("replace", ""),
        message=fields.get("message", ""),
        advice=fields.get("advice", ""),
        safety=next(known for known in _SAFETY if known == safety),
    )


def _check(where: str, key: str, value: str, pattern: re.Pattern[str], allowed: str) -> None:
    if not pattern.fullmatch(value):
        raise InputError(f"{where}: {key} is {value!r}" if value else f"{where} has no {key}", allowed=allowed)


def user_remarks(
    source: Source, language: str, project: Project, options: Options, rules: Sequence[UserRule]
) -> list[Remark]:
    """What the rules of the user say about a file."""
    lasts = {rule.name.rpartition(".")[2].encode() for rule in rules}
    if language != "python" or not any(last in source.data for last in lasts):
        return []
    from trainwright.migrate.python.scan import scan_python

    return scan_python(source, project, options, rules=[_as_rule(rule) for rule in rules])


def _as_rule(rule: UserRule) -> Rule:
    """The rule in the form of the built-in ones."""

    def visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
        if not isinstance(ref.node, ast.alias) and (ref.call is not None or not rule.calls_only):
            yield _remark(ref.node, ref.confidence, file, rule)

    return Rule(
        code=rule.code.lower(),
        number=rule.code,
        summary=rule.sentence,
        why=rule.advice,
        before=rule.name,
        after=rule.replace,
        safety=rule.safety,
        hooks=(NameHook(names=(rule.name,), visit=visit),),
    )


def _remark(node: ast.expr, confidence: Confidence, file: PythonFile, rule: UserRule) -> Remark:
    start, end = file.span(node)
    new = _spelling(file, node, rule)
    can_edit = bool(new) and rule.safety != "display" and file.text(node) != new
    safety: Safety = rule.safety if can_edit else "display"
    return Remark(
        number=rule.code,
        start=start,
        end=end,
        title=rule.sentence,
        advice=rule.advice or (f"write {rule.replace} instead" if rule.replace else ""),
        outcome="replaced" if can_edit else "manual",
        safety="unsafe" if confidence == "guessed" and safety == "safe" else safety,
        confidence=confidence,
        edits=(Edit(start=start, end=end, new=new),) if can_edit else (),
        evidence=_EVIDENCE,
        name=rule.name,
    )


def _spelling(file: PythonFile, node: ast.expr, rule: UserRule) -> str:
    """How the new name is spelled in this file; empty when nothing it begins with is imported at the top."""
    if not rule.replace:
        return ""
    names: dict[str, str] = {}
    for statement in file.tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom) and statement.lineno <= node.lineno:
            for alias in statement.names:
                bound = alias.asname or alias.name
                if isinstance(statement, ast.Import) and not alias.asname:
                    bound = alias.name.partition(".")[0]
                    names.setdefault(alias.name, alias.name)
                    continue
                names.setdefault(file.imported(statement, alias), bound)
    beginning = rule.replace
    while beginning:
        if beginning in names:
            return names[beginning] + rule.replace[len(beginning) :]
        beginning = beginning.rpartition(".")[0]
    return ""
