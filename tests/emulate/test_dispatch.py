"""Tensors of the emulated device: numbers, memory, views, gradients, errors."""

from __future__ import annotations

import copy
import gc
import io
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional


def both(make: Any) -> tuple[Any, Any]:
    """What a function answers on the CPU and on the device, from equal seeds."""
    torch.manual_seed(0)
    cpu = make(torch.device("cpu"))
    torch.manual_seed(0)
    return cpu, make(torch.device("npu:0"))


CASES = {
    "add a number": lambda d: torch.arange(6.0).to(d) + 2,
    "number that keeps the dtype": lambda d: torch.ones(2, dtype=torch.float16).to(d) * 2.5,
    "0-dimensional with a number": lambda d: torch.tensor(3.0).to(d) * 0.1,
    "matrix product": lambda d: torch.arange(6.0).reshape(2, 3).to(d) @ torch.ones(3, 2).to(d),
    "factory": lambda d: torch.full((2, 2), 7, device=d),
    "random": lambda d: torch.randn(4, device=d),
    "reduction": lambda d: torch.arange(6.0).reshape(2, 3).to(d).argmax(),
    "view of a view": lambda d: torch.arange(12).to(d).view(3, 4).t()[1:].reshape(-1),
    "in place through a view": lambda d: _in_place(torch.zeros(2, 3).to(d)),
    "lists": lambda d: torch.cat([torch.ones(2).to(d), torch.zeros(1).to(d)]),
    "several results": lambda d: torch.arange(5.0).to(d).sort(descending=True).indices,
    "index with a list": lambda d: torch.arange(9).reshape(3, 3).to(d)[[0, 2]],
    "CPU index": lambda d: torch.arange(9).to(d)[torch.tensor([1, 5])],
    "boolean mask": lambda d: torch.arange(9).to(d)[torch.arange(9).to(d) > 6],
    "convolution": lambda d: functional.conv2d(torch.ones(1, 1, 4, 4).to(d), torch.ones(1, 1, 3, 3).to(d)),
    "attention": lambda d: functional.scaled_dot_product_attention(*(torch.randn(1, 2, 5, 8).to(d) for _ in "qkv")),
    "attention with a mask": lambda d: functional.scaled_dot_product_attention(
        *(torch.randn(1, 2, 5, 8).to(d) for _ in "qkv"), attn_mask=torch.ones(5, 5, dtype=torch.bool).tril().to(d)
    ),
}


def _in_place(x: Tensor) -> Tensor:
    x[:, 1].add_(5)
    return x


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_those_of_the_cpu(case: str) -> None:
    cpu, npu = both(CASES[case])
    assert npu.device == torch.device("npu:0")
    assert npu.dtype == cpu.dtype
    assert torch.equal(npu.cpu(), cpu)


def test_a_tensor_is_a_genuine_one() -> None:
    x = torch.ones(2, device="npu:1")
    assert type(x) is Tensor
    assert x.is_npu  # type: ignore[attr-defined]
    assert x.untyped_storage().device == torch.device("npu:1")
    assert x.view(2, 1).data_ptr() == x.data_ptr()


def test_out_takes_the_shape_of_the_result() -> None:
    out = torch.empty(0, device="npu")
    torch.add(torch.ones(2, 3, device="npu"), 1, out=out)
    assert out.shape == (2, 3)
    assert out.device.type == "npu"
    assert out.sum().item() == 12


def test_storages_are_resized_in_place() -> None:
    storage = torch.ones(4, device="npu").untyped_storage()
    storage.resize_(0)
    assert (storage.size(), storage.device.type) == (0, "npu")
    storage.resize_(64)
    assert (storage.size(), storage.device.type) == (64, "npu")


MIXTURES = {
    "CPU and NPU": lambda: torch.ones(2, device="npu") + torch.ones(2),
    "two NPUs": lambda: torch.ones(2, device="npu:0") @ torch.ones(2, device="npu:1"),
    "in a list": lambda: torch.cat([torch.ones(2, device="npu"), torch.ones(2)]),
}


@pytest.mark.parametrize("case", MIXTURES)
def test_tensors_of_several_devices_do_not_mix(case: str) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        MIXTURES[case]()


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Invalid device ID: npu:2"):
        torch.ones(2, device="npu:2")


def test_backward_works_on_every_device() -> None:
    for device in ("cpu", "npu:0", "npu:1"):
        x = torch.arange(3.0, device=device, requires_grad=True)
        (x * x).sum().backward()
        assert x.grad is not None
        assert x.grad.device == x.device
        assert x.grad.tolist() == [0, 2, 4]


class _Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        raise ValueError("from backward")


def test_an_error_in_the_backward_pass_arrives() -> None:
    with pytest.raises(ValueError, match="from backward"):
        _Failing.apply(torch.ones(2, device="npu", requires_grad=True)).sum().backward()
    y = torch.ones(2, device="npu", requires_grad=True) * 2
    y.register_hook(lambda grad: grad / 0 if grad.dim() == 9 else 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert torch.ones(2, device="npu").sum().item() == 2  # the next thing works


def test_shared_weights_stay_tied() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    model.to("npu")
    assert model[0].weight is model[1].weight
    assert len(list(model.parameters())) == 3
    assert copy.deepcopy(model)[0].weight.device.type == "npu"


@pytest.mark.parametrize("location", ["cpu", "npu:0", "npu:1", None])
def test_checkpoints_go_where_they_are_mapped(location: str | None) -> None:
    file = io.BytesIO()
    torch.save({"x": torch.arange(3, device="npu:1")}, file)
    file.seek(0)
    loaded = torch.load(file, map_location=location)["x"]
    assert loaded.device == torch.device(location or "npu:1")
    assert loaded.tolist() == [0, 1, 2]


def _losses(device: str) -> list[float]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Dropout(0.1), nn.Linear(32, 8)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2, foreach=False)
    losses = []
    for _ in range(8):
        x = torch.randn(4, 8).to(device)
        loss = functional.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_training_gives_the_losses_of_the_cpu_bit_by_bit() -> None:
    assert _losses("npu:0") == _losses("cpu") == _losses("npu:1")


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_recurrent_cells_agree_with_the_cpu(cell: Any) -> None:
    torch.manual_seed(0)
    model, x = cell(4, 5), torch.randn(3, 2, 4)
    results = []
    for device in ("cpu", "npu"):
        moved = copy.deepcopy(model).to(device)
        y = x.detach().clone().to(device).requires_grad_()
        moved(y)[0].square().sum().backward()
        assert y.grad is not None
        results.append((y.grad.cpu(), moved.weight_hh_l0.grad.cpu()))
    for cpu, npu in zip(*results, strict=True):
        torch.testing.assert_close(npu, cpu)


def test_memory_is_counted_and_given_back() -> None:
    gc.collect()
    before = torch.npu.memory_allocated(1)
    x = torch.ones(1024, device="npu:1")
    y = x.view(32, 32)
    assert torch.npu.memory_allocated(1) - before == 4096
    del x
    assert torch.npu.memory_allocated(1) - before == 4096  # the view holds it
    del y
    assert torch.npu.memory_allocated(1) == before
    assert torch.npu.max_memory_allocated(1) >= before + 4096


def test_a_device_runs_out_of_memory() -> None:
    with pytest.raises(torch.OutOfMemoryError, match=r"NPU out of memory.*set with --memory"):
        torch.empty(2 << 30, dtype=torch.float32, device="npu:1")
    assert torch.npu.memory_stats(1)["num_ooms"] == 1


def test_four_hundred_steps_leave_nothing_behind() -> None:
    model = nn.Linear(8, 8).to("npu")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    held = []
    for step in range(400):
        loss = model(torch.ones(2, 8, device="npu")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del loss
        if step % 100 == 50:
            gc.collect()
            held.append((torch.npu.memory_allocated(), torch.npu.memory_stats()["allocation.all.current"]))
    assert len(set(held)) == 1


def test_pinned_memory() -> None:
    pinned = torch.arange(4.0).pin_memory()
    assert pinned.is_pinned()
    assert torch.empty(3, pin_memory=True).is_pinned()
    assert not torch.empty(3).is_pinned()
    assert pinned.to("npu", non_blocking=True).to("cpu", non_blocking=True).tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.ones(2, device="npu").pin_memory()


def test_a_loader_with_workers_pins_its_batches() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(6.0))
    loader = torch.utils.data.DataLoader(data, batch_size=3, num_workers=2, pin_memory=True)
    found = [(batch.is_pinned(), batch.to("npu").tolist()) for (batch,) in loader]
    assert found == [(True, [0, 1, 2]), (True, [3, 4, 5])]


def test_sparse_tensors_are_refused() -> None:
    with pytest.raises(NotImplementedError):
        torch.eye(2, device="npu").to_sparse()
