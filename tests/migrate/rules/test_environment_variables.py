"""environment-variables: in scripts, containers, configuration and Python."""

from __future__ import annotations

import pytest

from tests.migrate.text.check import migrated, outcomes, scanned
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.environment_variables import RULE
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import compatible, spliced

NUMBER = RULE.number
UNTOUCHED = [
    ("a.sh", "# export CUDA_VISIBLE_DEVICES=0\n"),
    ("a.sh", "echo CUDA_VISIBLE_DEVICES=0\n"),
    ("a.sh", "curl https://host/CUDA_VISIBLE_DEVICES=0\n"),
    ("a.sh", "cat <<'EOF'\nexport CUDA_VISIBLE_DEVICES=0\nEOF\n"),
    ("a.sh", "export MY_CUDA_VISIBLE_DEVICES=0\n"),
    ("a.yaml", "note: set CUDA_VISIBLE_DEVICES=0\n"),
    ("README.md", "export CUDA_VISIBLE_DEVICES=0\n"),
]


@pytest.mark.parametrize(("path", "text"), UNTOUCHED)
def test_what_is_no_variable_stays(path: str, text: str) -> None:
    assert migrated(path, text, unsafe=True) == text
    assert not scanned(path, text, number=NUMBER)


CHANGED = [
    ("a.sh", "export CUDA_VISIBLE_DEVICES=0,1\n"),
    ("a.sh", 'export "CUDA_VISIBLE_DEVICES=0"\npython a.py $CUDA_VISIBLE_DEVICES\n'),
    ("a.sh", "CUDA_VISIBLE_DEVICES=0 CUDA_LAUNCH_BLOCKING=1 python a.py\n"),
    ("a.sh", 'CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}"\nunset CUDA_VISIBLE_DEVICES\n'),
    ("a.sh", "docker run -e CUDA_VISIBLE_DEVICES=0 image\r\n"),
    ("a.sh", "# wie gew\u00fcnscht \u00fc\nexport CUDA_VISIBLE_DEVICES=0 # \u00fc\n"),
    ("a.sh", "CUDA_VISIBLE_DEVICES=0\necho CUDA_VISIBLE_DEVICES is set >&2\n".replace("is set", "")),
    ("run", "#!/usr/bin/env bash\nexport CUDA_VISIBLE_DEVICES=0\n"),
    ("Makefile", "export CUDA_VISIBLE_DEVICES ?= 0\na:\n\t@CUDA_LAUNCH_BLOCKING=1 python a.py\n"),
    ("Dockerfile", "FROM a\nENV CUDA_VISIBLE_DEVICES=0 \\\n    CUDA_LAUNCH_BLOCKING=1\n"),
    ("Dockerfile", "FROM a\nENV CUDA_VISIBLE_DEVICES 0\nRUN CUDA_LAUNCH_BLOCKING=1 python a.py\n"),
    (".github/workflows/a.yml", "jobs:\n  a:\n    env:\n      CUDA_VISIBLE_DEVICES: '0'\n    steps:\n      - run: a\n"),
    (".gitlab-ci.yml", "a:\n  script:\n    - CUDA_VISIBLE_DEVICES=0 python a.py # all\n"),
    ("compose.yml", "services:\n  a:\n    environment:\n      - CUDA_VISIBLE_DEVICES=0\n"),
    ("pod.yaml", "spec:\n  containers:\n  - env:\n    - name: CUDA_VISIBLE_DEVICES\n      value: '0'\n"),
    ("a.yaml", "steps:\n  - run: |\n      set -e\n      export CUDA_VISIBLE_DEVICES=0\n      python a.py\n"),
]


@pytest.mark.parametrize(("path", "text"), CHANGED)
def test_variables_are_renamed_everywhere_at_once(path: str, text: str) -> None:
    spoken = "echo CUDA_VISIBLE_DEVICES"
    expected = text.replace("CUDA_VISIBLE", "ASCEND_RT_VISIBLE").replace("CUDA_LAUNCH", "ASCEND_LAUNCH")
    expected = expected.replace(spoken.replace("CUDA_VISIBLE", "ASCEND_RT_VISIBLE"), spoken)
    assert migrated(path, text) == expected
    assert migrated(path, expected, unsafe=True) == expected


HELD_BACK = [
    "python a.py $CUDA_VISIBLE_DEVICES\n",
    "export CUDA_VISIBLE_DEVICES=-1\n",
    "export CUDA_VISIBLE_DEVICES=1,0\n",
    "export CUDA_VISIBLE_DEVICES=\n",
    "export CUDA_VISIBLE_DEVICES=0\npython -c 'import os; os.environ[\"CUDA_VISIBLE_DEVICES\"]'\n",
    "export TORCH_NCCL_BLOCKING_WAIT=1\n",
]


@pytest.mark.parametrize("text", HELD_BACK)
def test_doubtful_renames_wait(text: str) -> None:
    assert migrated("a.sh", text) == text
    assert migrated("a.sh", text, unsafe=True) != text


MANUAL = [
    ("export CUDA_VISIBLE_DEVICES=GPU-5ebe9f43\n", "manual"),
    ("export PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync\n", "manual"),
    ("export CUDA_HOME=/usr/local/cuda\n", "manual"),
    ("export PATH=/usr/local/cuda/bin:$PATH\n", "manual"),
    ("module load cuda/12.1 cudnn\n", "manual"),
    ("nvcc -o a a.cu\n", "manual"),
    ("export NCCL_DEBUG=INFO\n", "note"),
    ("export NCCL_SOMETHING=1\n", "note"),
    ("export CUDA_VISIBLE_DEVICES=0\nexport ASCEND_RT_VISIBLE_DEVICES=0\n", "note"),
]


@pytest.mark.parametrize(("text", "outcome"), MANUAL)
def test_the_rest_is_said(text: str, outcome: str) -> None:
    assert [found for found, _ in outcomes("a.sh", text, NUMBER)] == [outcome]
    assert migrated("a.sh", text, unsafe=True) == text


def test_module_unload_is_nothing() -> None:
    assert not scanned("a.sh", "module unload cuda\n", number=NUMBER)


def test_allocator_options_that_the_npu_knows_stay() -> None:
    text = "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128,expandable_segments:True\n"
    assert migrated("a.sh", text) == text.replace("CUDA", "NPU")


def test_where_cuda_must_go_on_working_nothing_is_renamed() -> None:
    (found,) = scanned("a.sh", "export CUDA_VISIBLE_DEVICES=0\n", number=NUMBER, style="agnostic")
    assert (found.outcome, found.edits) == ("manual", ())


def in_python(code: str) -> tuple[str, list[Remark]]:
    source = python_source("a.py", code.encode())
    remarks = scan_python(source, Project(), Options(), [RULE])
    edits = [edit for remark in compatible(remarks) if remark.safety == "safe" for edit in remark.edits]
    return spliced(source, edits).decode(), remarks


PYTHON = [
    'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\n',
    "import os\nos.environ.setdefault('CUDA_VISIBLE_DEVICES', '0')\nx = os.getenv('CUDA_VISIBLE_DEVICES')\n",
    'from os import environ\nif "CUDA_VISIBLE_DEVICES" in environ: del environ["CUDA_VISIBLE_DEVICES"]\n',
    'import os\nenv = os.environ.copy()\nenv["CUDA_VISIBLE_DEVICES"] = str(1)\n',
    'import os\nenv = {**os.environ, "CUDA_VISIBLE_DEVICES": "0"}\n',
    'import os\nos.environ.update({"CUDA_VISIBLE_DEVICES": "0"})\n',
    'import subprocess\nsubprocess.run(["a"], env={"CUDA_VISIBLE_DEVICES": "0"})\n',
    'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nprint("the variable chooses devices")\n',
    'import os\nx = [v for v in os.environ.get("CUDA_VISIBLE_DEVICES", "").replace(" ", "").split(",") if v]\n',
    'import os\nif "CUDA_VISIBLE_DEVICES" not in os.environ.keys(): os.environ["CUDA_VISIBLE_DEVICES"] = "0"\n',
    'import os\nenv = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}\n',
    'import os\nKEY = "CUDA_VISIBLE_DEVICES"\nx = os.environ.get(KEY)\n',
    'import os\nfor key in ["CUDA_VISIBLE_DEVICES", "OTHER"]:\n    os.environ.pop(key, None)\n',
    'def test(monkeypatch):\n    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")\n',
    'import os\nfrom unittest import mock\nwith mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "0"}): ...\n',
]


@pytest.mark.parametrize("code", PYTHON)
def test_python_renames_all_places(code: str) -> None:
    after, _ = in_python(code)
    assert after == code.replace("CUDA_VISIBLE", "ASCEND_RT_VISIBLE")
    assert in_python(after) == (after, [])


#: Texts beside a variable in which its name is only talked about.
TALK = [
    'warnings.warn("for best results, set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")',
    'raise ValueError(f"needs PYTORCH_CUDA_ALLOC_CONF={1}")',
    "print(f\"os.environ['PYTORCH_CUDA_ALLOC_CONF']: {1}\")",
    'x = "MY_PYTORCH_CUDA_ALLOC_CONF"',
    'assert x, "PYTORCH_CUDA_ALLOC_CONF=... must be set"',
]


@pytest.mark.parametrize("text", TALK)
def test_a_name_in_a_message_is_no_doubt(text: str) -> None:
    line = 'os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"\n'
    code = f"import os\nimport warnings\n{text}\n{line}"
    after, _ = in_python(code)
    assert after == f"import os\nimport warnings\n{text}\n{line.replace('CUDA', 'NPU')}"


def test_the_value_that_decides_is_shown() -> None:
    code = 'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nos.environ["CUDA_VISIBLE_DEVICES"] = "3,1"\n'
    after, (found,) = in_python(code)
    assert after == code
    assert "3,1" in found.detail
    assert code[: found.start].count("\n") == 2


PYTHON_UNTOUCHED = [
    'print("CUDA_VISIBLE_DEVICES")\n',
    '"""Set CUDA_VISIBLE_DEVICES."""\n',
    'x = {"CUDA_VISIBLE_DEVICES": 1}\n',
    'KEY = "CUDA_VISIBLE_DEVICES"\n',
]


@pytest.mark.parametrize("code", PYTHON_UNTOUCHED)
def test_python_strings_that_are_no_variables_stay(code: str) -> None:
    assert in_python(code) == (code, [])


PYTHON_HELD_BACK = [
    ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nKEY = "CUDA_VISIBLE_DEVICES"\n', "unsafe"),
    ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nos.system("CUDA_VISIBLE_DEVICES=1 a")\n', "unsafe"),
    ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nCMD = ["CUDA_VISIBLE_DEVICES=1", "a"]\n', "unsafe"),
    ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "-1"\n', "unsafe"),
    ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "GPU-1"\n', "display"),
    ('import os\nos.environ["PYTORCH_CUDA_ALLOC_CONF"] = "backend:native"\n', "display"),
    ('import os\nos.environ["NCCL_DEBUG"] = "INFO"\n', "display"),
]


@pytest.mark.parametrize(("code", "safety"), PYTHON_HELD_BACK)
def test_python_leaves_the_rest(code: str, safety: str) -> None:
    after, remarks = in_python(code)
    assert after == code
    assert [remark.safety for remark in remarks][:1] == [safety]


def test_commands_that_python_runs_are_left_to_a_person() -> None:
    code = 'import os\nos.system("CUDA_VISIBLE_DEVICES=1 python a.py")\nos.system(f"NCCL_DEBUG=INFO {1}")\n'
    after, remarks = in_python(code)
    assert after == code
    assert [(remark.outcome, remark.name) for remark in remarks] == [("manual", "CUDA_VISIBLE_DEVICES")]
