"""What a value is given to."""

from __future__ import annotations

import ast

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.given import given_to
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.source import python_source

CASES = [
    ('f("X")', ""),
    ('x == "X"', ""),
    ('y["X"] = 1', ""),
    ('a if b == "X" else c', ""),
    ('a = b = "X"', ""),
    ('f(name="X")', "name"),
    ('f(name="a" if b else "X")', "name"),
    ('f(name=a or "X")', "name"),
    ('d = {"name": "X"}', "name"),
    ('d["name"] = "X"', "name"),
    ('name = "X"', "name"),
    ('name: str = "X"', "name"),
    ('self.name = "X"', "name"),
    ('if (name := "X"): pass', "name"),
    ('def f(a, b=1, name="X", *, c=2): ...', "name"),
    ('def f(*, c, name="X"): ...', "name"),
    ('from dataclasses import field\nname: str = field(default="X")', "name"),
    ('p.add_argument("--the-name", default="X")', "the_name"),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_the_name_of_the_setting(code: str, expected: str) -> None:
    source = python_source("a.py", code.encode())
    file = PythonFile(source=source, tree=ast.parse(code), project=Project(), options=Options())
    (node,) = [node for node in ast.walk(file.tree) if isinstance(node, ast.Constant) and node.value == "X"]
    assert given_to(file, node) == expected
