"""launch-arguments: what scripts pass to programs."""

from __future__ import annotations

import pytest

from tests.migrate.text.check import migrated, scanned
from trainwright.migrate.project import Argument, Project
from trainwright.migrate.rules.launch_arguments import RULE

NUMBER = RULE.number
UNTOUCHED = [
    ("a.sh", "echo --device cuda\n"),
    ("a.sh", "# python a.py --device cuda\n"),
    ("a.sh", "python a.py --name cuda --out /data/cuda --backend gloo\n"),
    ("a.sh", "python a.py --device cuda_graph --backend nccl_tests\n"),
    ("a.sh", "cmake -DBACKEND=cuda --device cuda\n"),
    ("a.sh", "python a.py --device nccl --backend cuda\n"),
    ("a.sh", "python a.py --device $DEVICE\n"),
]


@pytest.mark.parametrize(("path", "text"), UNTOUCHED)
def test_what_is_no_device_stays(path: str, text: str) -> None:
    assert not scanned(path, text, number=NUMBER)


CHANGED = [
    ("a.sh", "python a.py --device cuda --backend nccl\n", "python a.py --device npu --backend hccl\n"),
    (
        "a.sh",
        "torchrun a.py --device=cuda:1 \\\n  --backend 'nccl'\n",
        "torchrun a.py --device=npu:1 \\\n  --backend 'hccl'\n",
    ),
    ("a.sh", "python a.py --dist-backend nccl\n", "python a.py --dist-backend hccl\n"),
    ("a.sh", "python a.py trainer.device=cuda\n", "python a.py trainer.device=npu\n"),
    ("a.sh", 'ARGS="--device cuda --x 1"\npython a.py $ARGS\n', 'ARGS="--device npu --x 1"\npython a.py $ARGS\n'),
    ("a.sh", "ARGS=(\n  --device cuda\n  --x\n)\n", "ARGS=(\n  --device npu\n  --x\n)\n"),
    (
        "Dockerfile",
        'FROM a\nCMD ["python", "a.py", "--device", "cuda"]\n',
        'FROM a\nCMD ["python", "a.py", "--device", "npu"]\n',
    ),
    ("Makefile", "a:\n\tpython a.py --device cuda $(X)\n", "a:\n\tpython a.py --device npu $(X)\n"),
    ("pod.yaml", "command: [python, a.py, --device, cuda]\n", "command: [python, a.py, --device, npu]\n"),
    ("pod.yaml", "args:\n  - --device\n  - 'cuda'\n", "args:\n  - --device\n  - 'npu'\n"),
    ("a.yaml", "command: python a.py --device cuda\n", "command: python a.py --device npu\n"),
]


@pytest.mark.parametrize(("path", "before", "after"), CHANGED)
def test_declared_options_are_changed(path: str, before: str, after: str) -> None:
    assert migrated(path, before, number=NUMBER) == after
    assert not scanned(path, after, number=NUMBER)


def test_options_of_other_programs_wait() -> None:
    text = "other --device cuda\n"
    assert migrated("a.sh", text, project=Project()) == text
    assert migrated("a.sh", text, project=Project(), unsafe=True) == "other --device npu\n"


@pytest.mark.parametrize(("style", "outcome"), [("agnostic", "manual"), ("shim", "note")])
def test_other_styles_leave_scripts_alone(style: str, outcome: str) -> None:
    (found,) = scanned("a.sh", "python a.py --device cuda\n", number=NUMBER, style=style)  # type: ignore[arg-type]
    assert (found.outcome, found.edits) == (outcome, ())


def test_an_option_whose_declaration_stays_waits() -> None:
    project = Project(arguments={"--backend": Argument(option="--backend", dest="backend")})
    text = "python a.py --backend nccl\n"
    assert migrated("a.sh", text, project=project) == text


def test_job_options_are_left_to_a_person() -> None:
    text = "#!/bin/bash\n#SBATCH --nodes=1 --gres=gpu:8\n#SBATCH --cpus-per-task=8\n# --gres=gpu\n"
    (found,) = scanned("a.sbatch", text, number=NUMBER)
    assert (found.outcome, found.title) == ("manual", "--gres=gpu:8 asks the scheduler for GPUs")


VARIABLES = [
    ("DEVICE=cuda\npython a.py --device $DEVICE\n", "DEVICE=npu\npython a.py --device $DEVICE\n"),
    ('D=${1:-"x"}\nX="cuda:1"\na --device="${X}"\n', 'D=${1:-"x"}\nX="npu:1"\na --device="${X}"\n'),
    ("X=${2:-cuda}\na --device $X\n", "X=${2:-npu}\na --device $X\n"),
    ("a --backend ${B:-nccl}\n", "a --backend ${B:-hccl}\n"),
    ('X=cuda\nARGS="--device $X --y"\na $ARGS\n', 'X=npu\nARGS="--device $X --y"\na $ARGS\n'),
]


@pytest.mark.parametrize(("before", "after"), VARIABLES)
def test_variables_that_become_arguments_are_changed(before: str, after: str) -> None:
    assert migrated("a.sh", before, number=NUMBER) == after
    assert migrated("a.sh", after, number=NUMBER, unsafe=True) == after


@pytest.mark.parametrize(
    "text",
    [
        'DEVICE=cuda\nif [ "$DEVICE" = cuda ]; then a; fi\npython a.py --device $DEVICE\n',
        "export DEVICE=cuda\n",
        "X=cuda\nother --map-location $X\n",
    ],
)
def test_variables_that_are_used_otherwise_wait(text: str) -> None:
    assert migrated("a.sh", text, number=NUMBER) == text
    assert migrated("a.sh", text, number=NUMBER, unsafe=True) != text


@pytest.mark.parametrize("text", ["NAME=cuda\na --name $NAME\n", "X=cuda\necho --device $X\n"])
def test_other_variables_stay(text: str) -> None:
    assert not scanned("a.sh", text, number=NUMBER)
