"""launch-arguments: what scripts pass to programs."""

from __future__ import annotations

import pytest

from tests.migrate.text.check import migrated, scanned
from trainwright.migrate.project import Project

NUMBER = "TW705"
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
