"""Turning emulation on, and what is there then."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys

import pytest
import torch

from trainwright.core.errors import InputError
from trainwright.emulate import install
from trainwright.emulate.chip import CHIPS

WRONG = [
    ({"chip": "h100"}, "there is no chip called 'h100'"),
    ({"devices": 0}, "0 devices cannot be emulated"),
    ({"memory_gib": 0.0}, "needs some memory"),
    ({"mode": "ieee"}, "overflow mode 'ieee' is not known"),
    ({"chip": "a910a", "mode": "inf-nan"}, "has no Inf and NaN mode"),
    ({"fault": "nothing"}, "there is no fault profile 'nothing'"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
def test_wrong_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        install(**settings)  # type: ignore[arg-type]


def test_torch_npu_is_found_as_module_and_distribution() -> None:
    import torch_npu  # type: ignore[import-not-found]

    assert torch_npu.npu is torch.npu
    assert importlib.util.find_spec("torch_npu") is not None
    assert importlib.metadata.version("torch_npu") == torch_npu.__version__
    assert torch_npu.__version__.endswith("+emulated")


def test_torch_npu_cannot_be_imported_without_emulation() -> None:
    program = [sys.executable, "-c", "import torch, torch_npu"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert "No module named 'torch_npu'" in done.stderr


def test_a_real_torch_npu_is_not_replaced(tmp_path: object) -> None:
    code = (
        f"import sys, pathlib; p = pathlib.Path({str(tmp_path)!r}); (p / 'torch_npu.py').write_text('');"
        "sys.path.insert(0, str(p)); from trainwright.emulate import install; install()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "a real torch_npu is installed" in done.stderr


@pytest.mark.parametrize("chip", sorted(CHIPS.leaves))  # "a910a", "a2", "a3"
def test_a_chip_says_what_it_is(chip: str) -> None:
    install(devices=3, chip=chip)
    assert torch.npu.device_count() == 3
    assert torch.npu.get_device_name(2) == f"{CHIPS[chip].name} (emulated)"
    assert torch.npu.get_device_properties(0).total_memory == CHIPS[chip].memory_gib << 30
    assert torch.npu.is_bf16_supported() is CHIPS[chip].bf16


def test_the_accelerator_is_the_npu() -> None:
    assert torch.accelerator.current_accelerator() == torch.device("npu")
    assert torch.accelerator.device_count() == 2
    torch.accelerator.set_device_index(1)
    try:
        assert torch.npu.current_device() == 1
        assert torch.ones(1, device="npu").device == torch.device("npu:1")
    finally:
        torch.npu.set_device(0)
