"""The example project trains, migrates to a project that still does, and its report names what is left to a person."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainwright.knowledge.surface import exports
from trainwright.migrate.copy import write_copy
from trainwright.migrate.engine import scan
from trainwright.migrate.options import Options
from trainwright.migrate.scan import Scan

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gpt_cuda"
#: Few and small steps, so that a laptop takes seconds.
ON_CPU = ["--device", "cpu", "--backend", "gloo", "--no-compile", "--batch", "4", "--workers", "0"]

#: Stands in for torch_npu where there is none: the names that it exports, and no device.
NO_NPU = """
import sys
import types

import torch

EXPORTS = frozenset({names!r})


class Npu(types.ModuleType):
    def __getattr__(self, name):
        if name not in EXPORTS:
            raise AttributeError(f"torch_npu.npu has no {{name}}")
        return lambda *arguments, **more: False


npu = Npu("torch_npu.npu")
npu.is_available = lambda: False
sys.modules["torch_npu.npu"] = npu
profiler = types.ModuleType("torch_npu.profiler")
profiler.__dict__.update(vars(torch.profiler))
sys.modules["torch_npu.profiler"] = profiler
torch.utils.rename_privateuse1_backend("npu")
torch._register_device_module("npu", npu)
"""

#: What a person has to know or do, by file: the rule that says so, and a word of what it says.
NAMED = (
    ("gpt/model.py", "TW501", "flash_attn"),
    ("gpt/optim.py", "TW203", "fused"),
    ("gpt/optim.py", "TW601", "bitsandbytes"),
    ("gpt/hardware.py", "TW106", "get_device_capability"),
    ("gpt/hardware.py", "TW106", "multi_processor_count"),
    ("gpt/hardware.py", "TW107", "torch.version.cuda"),
    ("gpt/hardware.py", "TW509", "torch.backends.cudnn"),
    ("gpt/hardware.py", "TW404", "nvtx"),
    ("gpt/trainer.py", "TW401", "torch.compile"),
    ("gpt/kernels/__init__.py", "TW105", "is_cuda"),
    ("gpt/kernels/__init__.py", "TW607", "bias_gelu_cuda"),
    ("gpt/kernels/bias_gelu_kernel.cu", "TW605", "bias_gelu_forward_kernel"),
    ("gpt/kernels/bias_gelu_kernel.cu", "TW605", "bias_gelu_backward_kernel"),
    ("setup.py", "TW606", "bias_gelu_cuda"),
    ("requirements.txt", "TW602", "flash-attn"),
    ("requirements.txt", "TW602", "bitsandbytes"),
    ("launch.sh", "TW701", "CUDA_VISIBLE_DEVICES"),
    ("launch.sh", "TW701", "NCCL_SOCKET_IFNAME"),
    ("launch.sh", "TW702", "nvidia-smi"),
    ("Dockerfile", "TW703", "pytorch/pytorch"),
)
#: Text that the migrated project must hold: what used to say cuda and nccl.
REPLACED = (
    ("train.py", 'choices=["npu", "cpu"]'),
    ("train.py", 'choices=["hccl", "gloo"]'),
    ("gpt/config.py", 'device: str = "npu"'),
    ("gpt/config.py", 'backend: str = "hccl"'),
    ("gpt/trainer.py", "torch.npu.set_device(local_rank)"),
    ("gpt/trainer.py", 'GradScaler("npu"'),
    ("gpt/checkpoint.py", "torch.npu.get_rng_state_all()"),
    ("gpt/checkpoint.py", "torch.npu.set_rng_state_all("),
    ("gpt/hardware.py", "torch.npu.Event(enable_timing=True)"),
    ("config/gpt.yaml", "device: npu  # where the model lives"),
    ("config/gpt.yaml", "backend: hccl  # how ranks talk"),
    ("launch.sh", "--device npu --backend hccl"),
    ("launch.sh", "ASCEND_RT_VISIBLE_DEVICES"),
)
CUDA_WORD = re.compile(r"cuda|nccl|nvidia|nvtx", re.IGNORECASE)
#: Names of the project's own, and an import that is spoken of where it is used.
OWN_NAMES = re.compile(r"bias_gelu_cuda|cuda_rng|gpt-cuda|import BuildExtension, CUDAExtension")


@pytest.fixture(scope="module")
def scanned() -> Scan:
    return scan(EXAMPLE, options=Options(), jobs=1, strict=True)


@pytest.fixture(scope="module")
def migrated(scanned: Scan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The migrated copy, as ``--out`` writes it."""
    out = tmp_path_factory.mktemp("migrated") / "gpt_npu"
    write_copy(scanned, out)
    return out


@pytest.fixture(scope="module")
def without_npu(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which ``import torch_npu`` works and finds no NPU."""
    folder = tmp_path_factory.mktemp("stand-in")
    (folder / "torch_npu").mkdir()
    (folder / "torch_npu" / "__init__.py").write_text(NO_NPU.format(names=sorted(exports())))
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def run(command: list[str], folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def train(project: Path, folder: Path, env: dict[str, str], *more: str) -> list[float]:
    """The losses of a run with the settings of a project, but a smaller model; the checkpoint goes to `folder`."""
    settings = (project / "config" / "gpt.yaml").read_text(encoding="utf-8")
    small = settings.replace("layers: 4", "layers: 1").replace("width: 256", "width: 64").replace("1.0e-3", "1.0e-2")
    config = folder / "small.yaml"
    config.write_text(small, encoding="utf-8")
    options = ["--config", str(config), "--checkpoint", str(folder / "gpt.pt")]
    return losses(run(["train.py", *ON_CPU, *options, *more], project, env))


def losses(output: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"loss ([\d.]+)", output)]


def mentions() -> Iterator[tuple[str, int, str]]:
    """Every line of Python code in the example that speaks of CUDA: comments and docstrings are none."""
    for path in sorted(EXAMPLE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lines = set()
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)
            if documented and isinstance(body, list):
                lines |= set(range(body[0].lineno, body[0].end_lineno + 1))
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = OWN_NAMES.sub("", text.partition("#")[0])
            if number not in lines and CUDA_WORD.search(code):
                yield path.relative_to(EXAMPLE).as_posix(), number, text.strip()


# ---- without torch -------------------------------------------------------------------------------------------------


def test_the_scan_ran_without_trouble(scanned: Scan) -> None:
    assert not scanned.quality


def test_what_is_not_cuda_stays(scanned: Scan, migrated: Path) -> None:
    changed = {file.path for file in scanned.changed(unsafe=False)}
    for path in sorted(EXAMPLE.rglob("*")):
        below = path.relative_to(EXAMPLE).as_posix()
        if path.is_file() and "__pycache__" not in below:
            new = migrated / below
            assert new.stat().st_mode == path.stat().st_mode
            assert below in changed or new.read_bytes() == path.read_bytes()
    assert not changed & {"README.md", "gpt/kernels/bias_gelu.cpp", "gpt/kernels/bias_gelu_kernel.cu"}


def test_every_file_parses(migrated: Path) -> None:
    for path in migrated.rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), str(path))


@pytest.mark.parametrize(("file", "text"), REPLACED)
def test_replaced(migrated: Path, file: str, text: str) -> None:
    assert text in (migrated / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("file", "number", "word"), NAMED)
def test_the_report_names_what_is_left(scanned: Scan, file: str, number: str, word: str) -> None:
    said = [
        f"{remark.title} {remark.name} {remark.detail} {remark.advice}"
        for scan_of, remark, _ in scanned.remarks()
        if scan_of.path == file and remark.number == number
    ]
    assert any(word in text for text in said), said


def test_what_cannot_run_has_a_way_out(scanned: Scan) -> None:
    left = [remark for _, remark, _ in scanned.remarks() if remark.outcome in ("manual", "blocked")]
    assert left
    for remark in left:
        assert remark.advice, remark.title


@pytest.mark.parametrize(("file", "line", "text"), list(mentions()))
def test_no_mention_of_cuda_goes_without_a_word(scanned: Scan, file: str, line: int, text: str) -> None:
    for scan_of, _, place in scanned.remarks():
        if scan_of.path == file and any(first <= line <= last for first, _, last, _ in (place.region, *place.edits)):
            return
    pytest.fail(f"nothing is said of {text}")


def test_a_second_run_changes_nothing(migrated: Path) -> None:
    again = scan(migrated, options=Options(), jobs=1, strict=True)
    assert not [file.path for file in again.changed(unsafe=False)]


# ---- with torch, on the CPU ----------------------------------------------------------------------------------------


@pytest.mark.torch
def test_the_example_trains_and_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    first = train(EXAMPLE, tmp_path, env, "--steps", "21")
    assert first[-1] < first[0] - 1
    then = train(EXAMPLE, tmp_path, env, "--steps", "22", "--resume")
    assert len(then) == 1
    assert then[0] < first[0] - 1


@pytest.mark.torch
def test_the_migrated_project_imports(migrated: Path, without_npu: dict[str, str]) -> None:
    pytest.importorskip("torch")
    names = ["train", *(f"gpt.{path.stem}" for path in (EXAMPLE / "gpt").glob("*.py") if path.stem != "__init__")]
    run(["-c", f"import {', '.join(sorted(names))}, gpt.kernels"], migrated, without_npu)


@pytest.mark.torch
def test_the_migrated_project_trains_as_before(
    migrated: Path, tmp_path_factory: pytest.TempPathFactory, without_npu: dict[str, str]
) -> None:
    pytest.importorskip("torch")
    before, after = (
        train(project, tmp_path_factory.mktemp("run"), without_npu, "--steps", "3") for project in (EXAMPLE, migrated)
    )
    assert before == pytest.approx(after, abs=1e-3)
