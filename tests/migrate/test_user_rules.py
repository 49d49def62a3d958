from __future__ import annotations

from pathlib import Path

import pytest

from trainwright.core.errors import InputError
from trainwright.migrate.options import Options
from trainwright.migrate.preferences import preferences_of
from trainwright.migrate.project import Project
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import spliced
from trainwright.migrate.user_rules import load_rules, user_remarks

RULE = """\
- code: MY001
  name: ourlib.cuda_reduce
  replace: ourlib.npu_reduce
  message: ourlib.cuda_reduce runs on CUDA only
  advice: use ourlib 2
  safety: safe
"""


def rules_file(folder: Path, text: str) -> Path:
    path = folder / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\n", "x = 1\n"),
        ("cuda_reduce(1)\n", "cuda_reduce(1)\n"),
        ("import other\nother.cuda_reduce(1)\n", "import other\nother.cuda_reduce(1)\n"),
        ("import ourlib\nourlib.cuda_reduce(1)\n", "import ourlib\nourlib.npu_reduce(1)\n"),
        ("import ourlib as o\nf = o.cuda_reduce\n", "import ourlib as o\nf = o.npu_reduce\n"),
    ],
)
def test_references_become_the_new_name(tmp_path: Path, code: str, expected: str) -> None:
    source = python_source("a.py", code.encode())
    remarks = user_remarks(source, "python", Project(), Options(), load_rules(rules_file(tmp_path, RULE)))
    assert spliced(source, [edit for remark in remarks for edit in remark.edits]).decode() == expected
    assert user_remarks(source, "shell", Project(), Options(), load_rules(tmp_path / "rules.yaml")) == []


def test_a_name_that_cannot_be_spelled_here_is_reported(tmp_path: Path) -> None:
    source = python_source("a.py", b"from ourlib import cuda_reduce\ncuda_reduce(1)\n")
    (remark,) = user_remarks(source, "python", Project(), Options(), load_rules(rules_file(tmp_path, RULE)))
    assert (remark.number, remark.outcome, remark.safety, remark.advice) == (
        "MY001",
        "manual",
        "display",
        "use ourlib 2",
    )


def test_calls_only(tmp_path: Path) -> None:
    rules = load_rules(rules_file(tmp_path, "- {code: MY002, call: ourlib.f}"))
    source = python_source("a.py", b"import ourlib\ng = ourlib.f\nourlib.f()\n")
    assert [
        source.position(remark.start)[0] for remark in user_remarks(source, "python", Project(), Options(), rules)
    ] == [3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no list of rules"),
        ("a: [", "no YAML"),
        ("- just text", "rule 1 is not a mapping"),
        ("- {code: MY1, nam: a.b}", "did you mean 'name'"),
        ("- {code: MY1, name: 3}", "name is 3"),
        ("- {code: MY1}", "needs one of name and call"),
        ("- {code: MY1, name: a.b, call: a.b}", "needs one of name and call"),
        ("- {name: a.b}", "has no code"),
        ("- {code: my1, name: a.b}", "code is 'my1'"),
        ("- {code: TW101, name: a.b}", "begins with TW"),
        ("- {code: MY1, name: single}", "full dotted name"),
        ("- {code: MY1, name: a.b, replace: 'a.b; import os'}", "full dotted name"),
        ("- {code: MY1, name: a.b, safety: maybe}", "safety is 'maybe'"),
        ("- {code: MY1, name: a.b, safety: safe}", "without replace"),
        ("- {code: MY1, name: a.b}\n- {code: MY1, name: a.c}", "two rules are called MY1"),
        ("- !!python/object/apply:os.system ['true']", "no YAML"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_rules(rules_file(tmp_path, text))
    with pytest.raises(InputError, match="cannot read"):
        load_rules(tmp_path / "missing.yaml")


def pyproject(folder: Path, table: str) -> Path:
    (folder / "pyproject.toml").write_text(f"[tool.trainwright.migrate]\n{table}\n", encoding="utf-8")
    return folder


def test_preferences_are_read(tmp_path: Path) -> None:
    assert preferences_of(tmp_path).style is None
    (tmp_path / "pyproject.toml").write_text("this is no TOML")
    assert preferences_of(tmp_path).select == ()
    table = 'style = "agnostic"\nignore = ["TW9"]\nunsafe = true\nuser-rules = "rules.yaml"\n'
    wishes = preferences_of(pyproject(tmp_path, table))
    assert (wishes.style, wishes.ignore, wishes.unsafe) == ("agnostic", ("TW9",), True)
    assert wishes.user_rules == tmp_path.resolve() / "rules.yaml"
    assert preferences_of(tmp_path / "a.py") == wishes


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('styl = "npu"', "did you mean 'style'"),
        ('style = "gpu"', "style is 'gpu'"),
        ("torch = 2.8", "torch is 2.8"),
        ('select = "TW1"', "a list of texts"),
        ("unsafe = 1", "true or false"),
        ('user-rules = "../../secret.yaml"', "below the project"),
    ],
)
def test_wrong_preferences_are_named(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        preferences_of(pyproject(tmp_path, table))
