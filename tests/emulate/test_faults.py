"""Faults change exactly the operators that a profile names, in the way that their kind says."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional

from trainwright.core.errors import InputError
from trainwright.emulate import install
from trainwright.emulate.fault_profile import read_profile

#: Operators that the tests call: how, and the name in ATen.
CALLS = {
    "mm": lambda x: x @ x,
    "gelu": functional.gelu,
    "native_layer_norm": lambda x: functional.layer_norm(x, (x.shape[-1],)),
    "add": lambda x: x + 1,
    "softmax": lambda x: x.softmax(-1),
    "sum": lambda x: x.sum(0),
    "mul": lambda x: x * 0.5,
}


def profile(folder: Path, text: str) -> str:
    path = folder / "faults.yaml"
    path.write_text("faults:\n  - " + text.replace("\n", "\n    ") + "\n", encoding="utf-8")
    return str(path)


def changed() -> set[str]:
    """The operators whose results differ from those of the CPU."""
    torch.manual_seed(0)
    x = torch.randn(17, 17)
    return {name for name, call in CALLS.items() if not torch.equal(call(x.npu()).cpu(), call(x))}


def test_without_a_profile_nothing_changes() -> None:
    assert changed() == set()


def test_the_demo_profile_changes_what_it_names() -> None:
    install(devices=2, memory_gib=4, fault="demo")
    assert changed() == {"mm", "gelu", "native_layer_norm"}


#: "low-precision", "lost-tail", "wrong-constant", "off-by-one", "saturation", "non-deterministic"
@pytest.mark.parametrize(
    "kind",
    ["low-precision", "lost-tail", "wrong-constant", "off-by-one", "saturation\nlimit: 0.5", "non-deterministic"],
)
def test_each_kind_changes_the_operator_it_is_given_and_no_other(tmp_path: Path, kind: str) -> None:
    install(devices=2, memory_gib=4, fault=profile(tmp_path, f"operator: mm\nfault: {kind}"))
    assert changed() == {"mm"}


def faulty(folder: Path, text: str) -> None:
    install(devices=2, memory_gib=4, fault=profile(folder, text))


def test_low_precision_keeps_the_bits_it_says(tmp_path: Path) -> None:
    faulty(tmp_path, "operator: mm\nfault: low-precision\nmantissa_bits: 8")
    x = torch.tensor([[1.0 + 2**-10]])
    assert (x.npu() @ torch.ones(1, 1).npu()).item() == 1.0  # 2**-10 lies below the 8 bits
    x = torch.tensor([[1.0 + 2**-6]])
    assert (x.npu() @ torch.ones(1, 1).npu()).item() == 1.0 + 2**-6


def test_the_tail_that_fills_no_tile_is_lost(tmp_path: Path) -> None:
    faulty(tmp_path, "operator: add\nfault: lost-tail\ntile: 4")
    assert (torch.ones(6).npu() + 1).tolist() == [2, 2, 2, 2, 0, 0]
    assert (torch.ones(4).npu() + 1).tolist() == [2, 2, 2, 2]


def test_off_by_one_shifts(tmp_path: Path) -> None:
    faulty(tmp_path, "operator: add\nfault: off-by-one")
    assert (torch.arange(3.0).npu() + 0).tolist() == [2, 0, 1]


def test_stale_output_is_the_one_before(tmp_path: Path) -> None:
    faulty(tmp_path, "operator: add\nfault: stale-output")
    assert [(torch.tensor([float(i)]).npu() + 0).item() for i in range(4)] == [0, 0, 1, 2]


def test_saturation_clamps(tmp_path: Path) -> None:
    faulty(tmp_path, "operator: mul\nfault: saturation\nlimit: 10")
    assert (torch.tensor([2.0, -9.0]).npu() * 6).tolist() == [10, -10]


def test_in_place_operators_are_hit_too(tmp_path: Path) -> None:
    faulty(tmp_path, "operator: mul_\nfault: wrong-constant\nfactor: 2")
    assert torch.ones(2).npu().mul_(3).tolist() == [6, 6]


def test_gradients_are_hit_too(tmp_path: Path) -> None:
    faulty(tmp_path, "operator: gelu_backward\nfault: wrong-constant\nfactor: 2")
    grads = []
    for device in ("cpu", "npu"):
        x = torch.ones(3, device=device, requires_grad=True)
        functional.gelu(x).sum().backward()
        assert x.grad is not None
        grads.append(x.grad.cpu())
    torch.testing.assert_close(grads[1], 2 * grads[0])


def test_a_fault_happens_when_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "operator: add\nfault: wrong-constant\nfactor: 2\nafter: 1\nevery: 2\ndtype: float32\nrank: [1]"
    faulty(tmp_path, text)
    assert [(torch.ones(1).npu() + 0).item() for _ in range(3)] == [1, 1, 1]  # we are rank 0
    monkeypatch.setenv("RANK", "1")
    assert [(torch.ones(1).npu() + 0).item() for _ in range(5)] == [1, 2, 1, 2, 1]
    assert (torch.ones(1, dtype=torch.float16).npu() + 0).item() == 1


WRONG = [
    ("operator: matmul\nfault: saturation", "ATen has no operator 'matmul'"),
    ("operator: mm\nfault: bitrot", "there is no fault called 'bitrot'"),
    ("operator: mm\nfault: saturation\nlimits: 3", "saturation has no limits"),
    ("operator: mm\nfault: saturation\nlimit: high", "limit must be a number"),
    ("operator: mm\nfault: saturation\ndtype: fp32", "dtype 'fp32' is not known"),
    ("operator: mm", "needs `operator` and `fault`"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_profile_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_profile(profile(tmp_path, text))


def test_a_file_that_is_no_profile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    for text in ("faults: 3", "[", "- mm"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="fault profile"):
            read_profile(str(path))
