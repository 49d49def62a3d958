"""Notebooks: cells are edited inside of the JSON, everything else stays byte for byte."""

from __future__ import annotations

import json

import pytest

from tests.migrate.text.check import migrated, scanned
from trainwright.migrate.reading import language_of


def book(*cells: str | list[str], indent: int | str | None = 1, language: str = "python") -> str:
    """A notebook with these code cells, whose outputs speak of CUDA."""
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["x.to('cuda') nvidia-smi"]}],
            "source": cell,
        }
        for cell in cells
    ]
    text = {"cell_type": "markdown", "metadata": {}, "source": ["x.to('cuda')"]}
    metadata = {"language_info": {"name": language}}
    whole = {"cells": [text, *made], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=indent, ensure_ascii=False)


def sources(text: str) -> list[str]:
    """The code cells of a notebook."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


UNTOUCHED = [
    ["print('cuda')"],
    ["%%html\n", "<a href='cuda'>"],
    ["%%writefile a.py\n", "import torch\n", "x.to('cuda')"],
    ["# !nvidia-smi"],
    [""],
]


@pytest.mark.parametrize("cell", UNTOUCHED)
def test_what_does_not_run_stays(cell: list[str]) -> None:
    text = book(cell)
    assert migrated("a.ipynb", text, unsafe=True) == text


OTHERS = [book(["!nvidia-smi"], language="julia"), "{}", "[]", '{"cells": 1}', '{"cells": ["a"]}']


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_python_notebook_stays(text: str) -> None:
    assert migrated("a.ipynb", text, unsafe=True) == text


@pytest.mark.parametrize("indent", [None, 1, "\t"])
@pytest.mark.parametrize("listed", [True, False])
def test_cells_change_and_the_import_follows(indent: int | str | None, listed: bool) -> None:
    cells = [["import torch"], ["x = 'ü \\t \"q\"'\n", 'y = torch.zeros(1, device="cuda")']]
    before = book(*(cell if listed else "".join(cell) for cell in cells), indent=indent)
    after = migrated("a.ipynb", before)
    assert sources(after) == ["import torch\nimport torch_npu", 'x = \'ü \\t "q"\'\ny = torch.zeros(1, device="npu")']
    assert after.count("x.to('cuda') nvidia-smi") == before.count("x.to('cuda') nvidia-smi")
    assert migrated("a.ipynb", after, unsafe=True) == after


def test_new_lines_are_new_entries() -> None:
    after = migrated("a.ipynb", book(["import torch\n", "torch.zeros(1, device='cuda')"]))
    (_, cell) = json.loads(after)["cells"]
    assert cell["source"] == ["import torch\n", "import torch_npu\n", "torch.zeros(1, device='npu')"]


MAGICS = [
    ("!nvidia-smi", "!npu-smi info"),
    ("if True:\n    !nvidia-smi\n", "if True:\n    !npu-smi info\n"),
    ("%env CUDA_VISIBLE_DEVICES=0", "%env ASCEND_RT_VISIBLE_DEVICES=0"),
    ("%set_env CUDA_VISIBLE_DEVICES 0", "%set_env ASCEND_RT_VISIBLE_DEVICES 0"),
    ("!CUDA_VISIBLE_DEVICES=0 \\\n python a.py", "!ASCEND_RT_VISIBLE_DEVICES=0 \\\n python a.py"),
    ("%%bash\nexport CUDA_VISIBLE_DEVICES=0\n", "%%bash\nexport ASCEND_RT_VISIBLE_DEVICES=0\n"),
    ("%%time\nimport torch\ntorch.device('cuda')", "%%time\nimport torch\nimport torch_npu\ntorch.device('npu')"),
    (
        "%matplotlib inline\nimport torch\nx?\nfiles = !ls\ntorch.device('cuda')",
        "%matplotlib inline\nimport torch\nimport torch_npu\nx?\nfiles = !ls\ntorch.device('npu')",
    ),
]


@pytest.mark.parametrize(("before", "after"), MAGICS)
def test_magics(before: str, after: str) -> None:
    assert sources(migrated("a.ipynb", book(before.splitlines(keepends=True)))) == [after]


def test_packages_that_a_cell_installs_are_seen() -> None:
    found = scanned("a.ipynb", book(["!pip install flash-attn"]), number="TW602")
    assert [remark.name for remark in found] == ["flash-attn"]


def test_a_cell_that_cannot_be_read_costs_only_itself() -> None:
    text = book(["this is cuda ("], ["import torch\n", "torch.device('cuda')"])
    assert "torch.device('npu')" in sources(migrated("a.ipynb", text))[1]
    (found,) = scanned("a.ipynb", text, number="TW901")
    assert found.title == "code cell 1 could not be read"
    assert text.encode()[found.start : found.end] == b"cuda"


def test_escapes_of_the_file_are_kept() -> None:
    text = book(["import torch\n", "x = '\u00fc\U0001f600'; torch.device('cuda')"]).replace("\u00fc", "\\u00fc")
    text = text.replace("\U0001f600", "\\ud83d\\ude00")
    after = migrated("a.ipynb", text)
    assert "x = '\\u00fc\\ud83d\\ude00'; torch.device('npu')" in after


def test_a_broken_file_is_named() -> None:
    assert [remark.number for remark in scanned("a.ipynb", '{"cells": ["cuda"')] == ["TW901"]


def test_names_that_hold_devices_are_told_to_the_project() -> None:
    data = book(["import torch\n", "place = 'cuda'\n", "torch.zeros(1).to(place)"]).encode()
    language = language_of("a.ipynb", data)
    assert language is not None
    facts = language.learn(language.read("a.ipynb", data))
    assert facts.entry_point
    assert not facts.module
