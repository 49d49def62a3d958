"""The architecture, held by tests: one-way imports, leaves that stand alone, small documented modules."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import trainwright

SOURCE = Path(trainwright.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py"))
TESTS = Path(__file__).parent

#: What each package may import.
ALLOWED = {
    "core": {"core"},
    "trace": {"core", "trace"},
    "report": {"core", "report"},
    "knowledge": {"core", "knowledge"},
    "migrate": {"core", "knowledge", "migrate"},
    "emulate": {"core", "knowledge", "emulate"},
    "analyze": {"core", "trace", "analyze"},
    "cli": {"core", "knowledge", "trace", "report", "migrate", "emulate", "analyze", "cli"},
}
LEAF_FOLDERS = {
    "core/executors",
    "trace/readers",
    "report/renderers",
    "migrate/languages",
    "migrate/rules",
    "emulate/chips",
    "emulate/faults",
    "emulate/operators",
    "analyze/analyses",
    "cli/commands",
}
#: Folders whose modules may import torch.
TORCH_FOLDERS = ("emulate/",)
MAX_MODULE_LINES = 400
BANNED_NAMES = {"utils", "common", "helpers", "base"}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def imports_of(path: Path) -> set[str]:
    """Dotted names a module imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def leaves() -> list[Path]:
    return [
        path
        for path in MODULES
        if path.parent.relative_to(SOURCE).as_posix() in LEAF_FOLDERS and path.stem != "__init__"
    ]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_one_way(path: Path) -> None:
    package = path.relative_to(SOURCE).parts[0]
    if package not in ALLOWED:
        return
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] == "trainwright" and len(parts) > 1 and parts[1] in ALLOWED:
            assert parts[1] in ALLOWED[package], f"{name_of(path)} imports {name}"


@pytest.mark.parametrize("path", leaves(), ids=name_of)
def test_leaves_never_import_leaves(path: Path) -> None:
    prefixes = tuple("trainwright." + folder.replace("/", ".") + "." for folder in LEAF_FOLDERS)
    assert not [name for name in imports_of(path) if name.startswith(prefixes)]


@pytest.mark.parametrize("path", leaves(), ids=name_of)
def test_every_leaf_is_tested(path: Path) -> None:
    texts = [test.read_text(encoding="utf-8") for test in TESTS.rglob("*.py") if test != Path(__file__)]
    code = path.stem.replace("_", "-")
    assert any(path.stem in text or f'"{code}"' in text for text in texts), f"no test names {name_of(path)}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_are_documented_small_and_well_named(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{name_of(path)} has no docstring"
    assert text.count("\n") <= MAX_MODULE_LINES
    assert path.stem not in BANNED_NAMES


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_names_have_docstrings(path: Path) -> None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{name_of(path)}: {node.name} has no docstring"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_torch_is_imported_only_where_it_is_allowed(path: Path) -> None:
    uses = any(name.split(".")[0] in ("torch", "torch_npu") for name in imports_of(path))
    assert not uses or name_of(path).startswith(TORCH_FOLDERS)


def test_the_help_text_imports_nothing_heavy() -> None:
    code = (
        "import sys; from trainwright.cli.main import build_parser; build_parser().format_help();"
        "print([name for name in ('numpy', 'pyarrow', 'duckdb', 'rich', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
