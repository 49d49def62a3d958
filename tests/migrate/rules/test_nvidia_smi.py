"""nvidia-smi: calls in scripts and in Python."""

from __future__ import annotations

import pytest

from tests.migrate.text.check import migrated, scanned
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.rules.nvidia_smi import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import spliced

NUMBER = RULE.number


@pytest.mark.parametrize("text", ["echo nvidia-smi\n", "# nvidia-smi\n", "cp nvidia-smi /tmp\n", "my-nvidia-smi\n"])
def test_what_is_no_call_stays(text: str) -> None:
    assert not scanned("a.sh", text, number=NUMBER)


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-smi\n",
        "sudo nvidia-smi || true\n",
        "watch -n 1 nvidia-smi\n",
        "nvidia-smi > log.txt\n",
        "a && nvidia-smi\n",
    ],
)
def test_plain_calls_are_replaced(text: str) -> None:
    after = text.replace("nvidia-smi", "npu-smi info")
    assert migrated("a.sh", text) == after
    assert not scanned("a.sh", after, number=NUMBER)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("N=$(nvidia-smi -L | wc -l)\n", "/dev/davinci"),
        ("nvidia-smi --query-gpu=name --format=csv\n", "options differ"),
        ("nvidia-smi | grep MiB\n", "options differ"),
        ("nvidia-smi topo -m\n", "-t topo"),
        ("/usr/bin/nvidia-smi\n", "options differ"),
    ],
)
def test_calls_that_are_read_are_left_to_a_person(text: str, word: str) -> None:
    (found,) = scanned("a.sh", text, number=NUMBER)
    assert (found.outcome, found.edits) == ("manual", ())
    assert word in found.advice


def test_the_question_for_it_waits() -> None:
    text = "if command -v nvidia-smi; then a; fi\n"
    assert migrated("a.sh", text) == text
    assert migrated("a.sh", text, unsafe=True) == text.replace("nvidia", "npu")


def in_python(code: str) -> tuple[str, list[str]]:
    source = python_source("a.py", code.encode())
    remarks = scan_python(source, Project(), Options(), [RULE])
    return spliced(source, [edit for remark in remarks for edit in remark.edits]).decode(), [
        remark.outcome for remark in remarks
    ]


@pytest.mark.parametrize("code", ['print("nvidia-smi")\n', '"""nvidia-smi"""\n', 'x = ["nvidia-smi"]\n'])
def test_python_strings_that_do_not_run_stay(code: str) -> None:
    assert in_python(code) == (code, [])


def test_python_calls_are_replaced_where_nobody_reads_them() -> None:
    before = 'import os, subprocess\nos.system("nvidia-smi")\nsubprocess.run(["nvidia-smi"], check=True)\n'
    after = 'import os, subprocess\nos.system("npu-smi info")\nsubprocess.run(["npu-smi", "info"], check=True)\n'
    assert in_python(before) == (after, ["replaced", "replaced"])


@pytest.mark.parametrize(
    "code",
    [
        'import subprocess\nx = subprocess.check_output(["nvidia-smi", "-L"])\n',
        'import subprocess\nsubprocess.run("nvidia-smi", capture_output=True)\n',
        'import os\nx = os.popen("nvidia-smi --query-gpu=name").read()\n',
        'import shutil\nif shutil.which("nvidia-smi"): pass\n',
    ],
)
def test_python_calls_that_are_read_are_left_to_a_person(code: str) -> None:
    assert in_python(code) == (code, ["manual"])
