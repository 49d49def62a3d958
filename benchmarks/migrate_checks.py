"""What must hold of every file that a migration changes, checked from the outside.

The checks trust neither the engine nor its splicing: they compare bytes before and after, parse both with the parsers
of the standard library, and look every NPU name up that is in the new text and was not in the old.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import yaml

from trainwright.knowledge.surface import modules, npu_name_exists
from trainwright.migrate.remark import Edit
from trainwright.migrate.scan import FileScan

SHOWN = 5
NPU_NAME = re.compile(r"(?<![\w.])(?:torch\.npu|torch_npu)(?:\.[A-Za-z_]\w*)+")
NPU_ROOTS = ("torch.npu", "torch_npu")


@dataclass
class Tally:
    """How often a check was made and failed, with the first failures."""

    made: int = 0
    failed: int = 0
    examples: list[str] = field(default_factory=list)

    def count(self, good: bool, example: str) -> None:
        """One more check."""
        self.made += 1
        if not good:
            self.failed += 1
            if len(self.examples) < SHOWN:
                self.examples.append(example)


@dataclass
class Checks:
    """All tallies of one package."""

    parses: Tally = field(default_factory=Tally)
    bytes_kept: Tally = field(default_factory=Tally)
    second_run: Tally = field(default_factory=Tally)
    no_no_op: Tally = field(default_factory=Tally)
    names_exist: Tally = field(default_factory=Tally)
    registered: Tally = field(default_factory=Tally)


def check_file(checks: Checks, file: FileScan, *, before: bytes, after: bytes, unsafe: bool) -> None:
    """Count all checks of one file that a delivery changed from `before` to `after`."""
    path, language, edits = file.path, file.language, file.edits(unsafe=unsafe)
    encoding = encoding_of(before) if language == "python" else "utf-8"
    parse = parser_of(path, language)
    if parse is not None and not failure(parse, before):
        problem = failure(parse, after)
        checks.parses.count(not problem, f"{path}: {problem}")
    problem = bytes_problem(before, after, edits, encoding)
    checks.bytes_kept.count(not problem, f"{path}: {problem}")
    for edit in edits:
        same = encoded(edit.new, before, encoding) == before[edit.start : edit.end]
        checks.no_no_op.count(not same, f"{path}: byte {edit.start} is replaced by itself: {edit.new!r}")
    for name in sorted(new_names(language, before, after, edits)):
        checks.names_exist.count(exists(name), f"{path}: {name}")
    if any(remark.registers for remark in file.applied(unsafe=unsafe)):
        known = notebook_imports_npu(after) if path.endswith(".ipynb") else imports_npu(after)
        checks.registered.count(known, f"{path}: nothing imports torch_npu when the module is imported")


# ---- bytes ---------------------------------------------------------------------------------------------------------


def bytes_problem(before: bytes, after: bytes, edits: Iterable[Edit], encoding: str) -> str:
    """Where the new bytes differ from the old outside of the edits, or from the edits inside; empty: nowhere."""
    old = new = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        kept = edit.start - old
        if kept < 0 or not edit.start <= edit.end <= len(before):
            return f"edits overlap or leave the file at byte {edit.start}"
        if before[old : edit.start] != after[new : new + kept]:
            return f"bytes {old}-{edit.start} changed outside of every edit"
        text = encoded(edit.new, before, encoding)
        if after[new + kept : new + kept + len(text)] != text:
            return f"byte {edit.start} does not hold what its edit says"
        old, new = edit.end, new + kept + len(text)
    return "" if before[old:] == after[new:] else f"bytes after {old} changed outside of every edit"


def encoded(text: str, file: bytes, encoding: str) -> bytes:
    """New text as it must stand in a file: in its encoding, with the newline that it uses first."""
    newline = re.search(rb"\r\n|\r|\n", file)
    return text.replace("\n", newline.group().decode() if newline else "\n").encode(encoding, "surrogateescape")


def encoding_of(data: bytes) -> str:
    """The encoding that a Python file declares in its first two lines."""
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 2)[:2]:
        if match := re.match(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", line):
            return match.group(1).decode()
    return "utf-8"


# ---- parsing -------------------------------------------------------------------------------------------------------


def parser_of(path: str, language: str) -> Callable[[bytes], object] | None:
    """A parser for a file, out of the standard library where it has one."""
    if language == "python":
        return ast.parse
    suffix = PurePosixPath(path).suffix
    if suffix == ".toml" and sys.version_info >= (3, 11):
        import tomllib

        return lambda data: tomllib.loads(data.decode())
    parsers: dict[str, Callable[[bytes], object]] = {
        ".json": json.loads, ".ipynb": parse_notebook, ".yaml": parse_yaml, ".yml": parse_yaml,
    }  # fmt: skip
    return parsers.get(suffix)


def parse_notebook(data: bytes) -> None:
    """The JSON of a notebook, and every code cell that has no line of another language."""
    for cell in json.loads(data)["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and not re.search(r"^\s*[!%?]", text, re.MULTILINE):
            ast.parse(text)


def parse_yaml(data: bytes) -> None:
    """All events of a YAML file; tags need no meaning here."""
    for _ in yaml.parse(data.decode(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        pass


def failure(parse: Callable[[bytes], object], data: bytes) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parse(data)
    except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, yaml.YAMLError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


# ---- names ---------------------------------------------------------------------------------------------------------


def new_names(language: str, before: bytes, after: bytes, edits: Iterable[Edit]) -> set[str]:
    """NPU names in the new text that were not in the old: in edits of any file, in the whole tree of a Python file."""
    found = {match.group() for edit in edits for match in NPU_NAME.finditer(edit.new)}
    if language == "python" and not failure(ast.parse, after):
        found |= set(tree_names(after))
    if not found:
        return found
    old = {match.group() for match in NPU_NAME.finditer(before.decode("utf-8", "replace"))}
    return found - old


def tree_names(data: bytes) -> Iterator[str]:
    """Every dotted name below `NPU_ROOTS` in a Python file, aliases of the two modules seen through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    aliases = {"torch": "torch", "torch_npu": "torch_npu"}
    inner: set[ast.AST] = set()
    chains: list[ast.Attribute] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases |= {alias.asname: alias.name for alias in node.names if alias.asname}
            yield from (alias.name for alias in node.names if below_npu(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names if alias.name != "*"]
            aliases |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            yield from (name for name in names if below_npu(name))
        elif isinstance(node, ast.Attribute):
            inner.add(node.value)
            chains.append(node)
    for chain in chains:
        if chain not in inner and below_npu(name := dotted(chain, aliases)):
            yield name


def dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    """The dotted name of an attribute chain that starts at a known module; else an empty string."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, "")
    if not isinstance(node, ast.Attribute):
        return ""
    head = dotted(node.value, aliases)
    return head and f"{head}.{node.attr}"


def notebook_imports_npu(data: bytes) -> bool:
    """Whether a code cell of a notebook imports torch_npu as `imports_npu` says; magics are left out."""
    cells = [cell for cell in json.loads(data).get("cells", []) if cell.get("cell_type") == "code"]
    texts = (re.sub(r"(?m)^(\s*)[%!?].*$", r"\1pass", "".join(cell.get("source", ""))) for cell in cells)
    return any(imports_npu(text.encode()) for text in texts)


def imports_npu(data: bytes) -> bool:
    """Whether a Python file imports torch_npu at its top, be it inside a ``try``, and not for type checkers only."""
    if failure(ast.parse, data):
        return False
    body = ast.parse(data).body
    while body:
        node = body.pop()
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "torch_npu" for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch_npu":
            return True
        if isinstance(node, ast.Try):
            body += node.body
    return False


def below_npu(name: str) -> bool:
    return any(name == root or name.startswith(f"{root}.") for root in NPU_ROOTS)


def exists(name: str) -> bool:
    """Whether a dotted name is there: part by part through the modules, up to the first thing that is no module."""
    parts = name.split(".")
    start = 2 if parts[0] == "torch" else 1
    for end in range(start, len(parts) + 1):
        prefix = ".".join(parts[:end])
        if not npu_name_exists(prefix):
            return False
        if prefix.replace("torch.npu", "torch_npu.npu") not in modules() and prefix not in NPU_ROOTS:
            return True  # attributes of a class or function are not listed
    return True
