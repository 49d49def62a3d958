"""The data files come out of their sources."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from trainwright.core.errors import InputError
from trainwright.knowledge import build, npu_wheel, support_table, torch_names
from trainwright.knowledge.tables import lines_text, table_text

FACTS = Path(__file__).resolve().parents[3] / "shared" / "facts"
HEADER = (*support_table.FIXED, "torch2.7", "torch2.8")

NAMES = [
    ("torch.abs", "torch.abs"),
    ("Tensor.abs", "torch.Tensor.abs"),
    ("Optimizer.step", "torch.optim.Optimizer.step"),
    ("FunctionCtx.mark_dirty", "torch.autograd.function.FunctionCtx.mark_dirty"),
    ("torch.get_qconfig\u8be5API\u4e3a", "torch.get_qconfig"),
    ("None.mean", ""),
    ("torch", ""),
]


@pytest.mark.parametrize(("documented", "name"), NAMES)
def test_documented_names_become_names_of_torch(documented: str, name: str) -> None:
    assert support_table.api_name(documented) == name


def test_rows_of_one_api_are_merged_and_the_newer_one_decides() -> None:
    rows = [
        ("Tensor.abs", "", "fp32", "1", "", "", "yes"),
        ("torch.Tensor.abs", "", "bf16,fp32", "", "", "23D", ""),
        ("None.mean", "", "", "", "", "yes", "yes"),
    ]
    assert support_table.merged_rows(HEADER, rows) == [("torch.Tensor.abs", "", "bf16,fp32", "1", "", "23D", "yes")]


def test_tables_are_sorted_and_hold_each_row_once() -> None:
    assert table_text(("a", "b"), [("y", "2"), ("x", "1"), ("y", "2")]) == "a\tb\nx\t1\ny\t2\n"
    assert lines_text(["b", "a", "b"]) == "a\nb\n"


def test_an_alias_points_to_the_shortest_listed_name() -> None:
    groups = (("torch.a.b.F", "torch.a.F", "torch.F"), ("torch.x.G", "torch.G"))
    names = torch_names.TorchNames(version="2.13.0", groups=groups, aten={})
    assert torch_names.aliases(names, ["torch.a.b.F", "torch.a.F"]) == [("torch.F", "torch.a.F")]


def test_an_interpreter_without_torch_is_named() -> None:
    with pytest.raises(InputError, match="could not be asked"):
        torch_names.ask_torch("/bin/false")


def _interpreter(folder: Path, answer: object) -> str:
    """A program that stands in for an interpreter that has torch."""
    program = folder / "python"
    program.write_text(f"#!{sys.executable}\nprint({json.dumps(json.dumps(answer))})\n")
    program.chmod(0o755)
    return str(program)


def _wheel(folder: Path) -> Path:
    members = {
        "torch_npu/__init__.py": "from torch_npu.npu import thing\nfrom os import path\n",
        "torch_npu/npu/__init__.py": "from .mstx import mstx\n__all__ = ['Event']\n__all__ += ['Stream']\n",
        "torch_npu/npu/mstx.py": "class mstx:\n    def mark(): ...\n",
        "torch_npu/npu/memory.py": "import os\nfrom x import y\ndef _snapshot(): ...\ndef __dir__(): ...\n",
        "torch_npu/npu/backends.py": "cache = 1\ndef _private(): ...\n",
        "torch_npu/npu/_hidden.py": "def f(): ...\n",
        "torch_npu/testing/x.py": "def f(): ...\n",
        "torch_npu/csrc/aten/npu_native_functions.yaml": (
            "backend: NPU\nsupported:\n- abs\n- func: add.out\n  x: y\n"
            "custom:\n- autograd: z\n  func: npu_max.dim(Tensor self)\n- func: abs\nother:\n- no\n"
        ),
    }
    path = folder / "torch_npu.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_the_names_of_a_wheel_are_read_without_running_it(tmp_path: Path) -> None:
    assert npu_wheel.wheel_names(_wheel(tmp_path)) == [
        "torch_npu.npu",
        "torch_npu.npu.Event",
        "torch_npu.npu.Stream",
        "torch_npu.npu.backends",
        "torch_npu.npu.backends.cache",
        "torch_npu.npu.memory",
        "torch_npu.npu.memory._snapshot",
        "torch_npu.npu.mstx",
        "torch_npu.npu.mstx.mark",
        "torch_npu.npu.mstx.mstx",
        "torch_npu.thing",
    ]


def test_the_operators_of_a_wheel(tmp_path: Path) -> None:
    assert npu_wheel.wheel_operators(_wheel(tmp_path)) == [
        ("aten", "abs"),
        ("aten", "add.out"),
        ("custom", "npu_max.dim"),
    ]


def _facts(folder: Path) -> Path:
    header = "\t".join(HEADER)
    (folder / "npu_api_support.tsv").write_text(f"{header}\ntorch.b\t\t\t\t\tyes\tno\nTensor.a\t\tfp32\t\t\tyes\tyes\n")
    (folder / "npu_registered_ops.tsv").write_text("kind\toverload\naten\tabs\n")
    (folder / "torch_npu_npu_surface.txt").write_text("Stream\nEvent\n")
    return folder


def test_all_files_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = _interpreter(
        tmp_path, {"version": "2.13.0", "groups": [["torch.b", "torch.c"]], "aten": [["abs", "kernel"]]}
    )
    asked = ["--facts", str(_facts(tmp_path)), "--out", str(tmp_path / "data"), "--torch-aliases"]
    assert build.main([*asked, "--torch-python", python, "--torch-npu", str(_wheel(tmp_path))]) == 0
    written = {path.name: path.read_text() for path in (tmp_path / "data").iterdir()}
    assert set(written) == {
        "aliases.tsv", "api_support.tsv", "aten_operators.tsv", "npu_names.txt", "npu_surface.txt",
        "registered_ops.tsv", "wheel_operators.tsv",
    }  # fmt: skip
    assert written["aliases.tsv"] == "alias\tapi\ntorch.c\ttorch.b\n"
    assert written["npu_surface.txt"] == "Event\nStream\n"
    assert capsys.readouterr().out.count("\n") == 7


def test_what_cannot_be_read_is_named_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build.main(["--facts", str(tmp_path / "none"), "--out", str(tmp_path / "data")]) == 2
    assert "--facts" in capsys.readouterr().err
    wheel = tmp_path / "no.whl"
    wheel.write_bytes(b"no wheel")
    facts = ["--facts", str(_facts(tmp_path)), "--out", str(tmp_path / "data")]
    assert build.main([*facts, "--torch-npu", str(wheel)]) == 2
    assert "no.whl" in capsys.readouterr().err
    (tmp_path / "npu_registered_ops.tsv").write_text("kind\toverload\naten\n")
    assert build.main(facts) == 2
    assert "not a table" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.shared_data
def test_the_files_of_the_package_equal_a_rebuild() -> None:
    for name, text in build.facts_files(FACTS).items():
        assert (build.DATA / name).read_bytes() == text.encode(), f"{name}: run `make facts FACTS={FACTS}`"


@pytest.mark.parametrize("path", sorted(build.DATA.glob("*.t*")), ids=lambda path: path.name)
def test_every_file_is_sorted_without_doubles_and_in_plain_lines(path: Path) -> None:
    data = path.read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    lines = data.decode().splitlines()
    body = lines[1:] if path.suffix == ".tsv" else lines
    keys = [tuple(line.split("\t")) for line in body]
    assert keys == sorted(set(keys))


@pytest.mark.torch
def test_torch_itself_agrees_with_the_aliases() -> None:
    pytest.importorskip("torch")
    names = torch_names.ask_torch()
    groups = {name: group for group in names.groups for name in group}
    kept = [tuple(line.split("\t")) for line in (build.DATA / "aliases.tsv").read_text().splitlines()[1:]]
    # Another release of torch may lack a few; none may have come to mean something else.
    known = [(alias, api) for alias, api in kept if alias in groups and api in groups]
    assert len(known) > 0.9 * len(kept)
    assert [pair for pair in known if pair[1] not in groups[pair[0]]] == []
    assert names.aten["poisson"] == "kernel"
    assert names.aten["nanquantile"] == "composite"
