"""Run on two ranks by `test_collectives`: collectives, DDP, FSDP2, checkpoints; prints one JSON line on rank 0."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint import load, save
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

KIND, FOLDER = sys.argv[1], Path(sys.argv[2])
RANK = int(os.environ["RANK"])
DEVICE = torch.device(KIND, RANK) if KIND == "npu" else torch.device("cpu")
STEPS = 4


class Model(nn.Module):
    """Two layers, the second recomputed in the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32))
        self.other = nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        """Twice through the data."""
        return checkpoint(self.other, self.one(x), use_reentrant=False)  # type: ignore[no-any-return]


def trained(model: nn.Module, optimizer: Any, *, autocast: bool = False) -> list[float]:
    losses = []
    torch.manual_seed(RANK + 1)
    for _ in range(STEPS):
        x = torch.randn(4, 8).to(DEVICE)
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16, enabled=autocast):
            loss = (model(x).float() - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def adam(model: nn.Module) -> Any:
    return torch.optim.AdamW(model.parameters(), 1e-2, foreach=False)


def collectives() -> dict[str, Any]:
    """What each collective answers."""
    mine = torch.arange(4.0, device=DEVICE) + 10 * RANK
    found: dict[str, Any] = {}

    def into(name: str, shape: int, call: Any) -> None:
        out = torch.zeros(shape, device=DEVICE)
        call(out)
        found[name] = out.tolist()

    for name, op in (("sum", dist.ReduceOp.SUM), ("mean", dist.ReduceOp.AVG), ("max", dist.ReduceOp.MAX)):
        reduced = mine.clone()
        dist.all_reduce(reduced, op=op)
        found[name] = reduced.tolist()
    into("all_gather", 8, lambda out: dist.all_gather_into_tensor(out, mine))
    into("reduce_scatter", 2, lambda out: dist.reduce_scatter_tensor(out, mine))
    into("all_to_all", 4, lambda out: dist.all_to_all_single(out, mine))
    sent = mine.clone()
    dist.broadcast(sent, 1)
    found["broadcast"] = sent.tolist()
    received = torch.zeros(4, device=DEVICE)
    work = [dist.P2POp(dist.isend, mine, 1 - RANK), dist.P2POp(dist.irecv, received, 1 - RANK)]
    for item in dist.batch_isend_irecv(work):
        item.wait()
    found["exchange"] = received.tolist()
    objects: list[Any] = [None, None]
    dist.all_gather_object(objects, {"rank": RANK})
    found["objects"] = objects
    half = torch.ones(2, device=DEVICE, dtype=torch.bfloat16)
    dist.all_reduce(half, async_op=True).wait()
    found["bfloat16"] = half.tolist()
    dist.barrier()
    return found


def refused() -> str:
    """What an hccl group says to a CPU tensor."""
    try:
        dist.all_reduce(torch.ones(2))
    except RuntimeError as error:
        return str(error)
    return ""


def main() -> None:
    dist.init_process_group("hccl" if KIND == "npu" else "gloo")
    if KIND == "npu":
        torch.npu.set_device(RANK)
    found: dict[str, Any] = {"collectives": collectives(), "refused": refused()}
    ways = (("ddp", {}), ("static", {"static_graph": True}), ("unused", {"find_unused_parameters": True}))
    for name, settings in ways:
        model = DistributedDataParallel(Model().to(DEVICE), device_ids=[RANK] if KIND == "npu" else None, **settings)
        found[name] = trained(model, adam(model))
    model = DistributedDataParallel(Model().to(DEVICE))
    found["autocast"] = trained(model, adam(model), autocast=True)
    mesh = init_device_mesh(KIND, (2,))
    for name, policy in (
        ("fsdp2", MixedPrecisionPolicy()),
        ("fsdp2 bfloat16", MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)),
    ):
        sharded = Model().to(DEVICE)
        fully_shard(sharded.one, mesh=mesh, mp_policy=policy)
        fully_shard(sharded, mesh=mesh, mp_policy=policy)
        found[name] = trained(sharded, adam(sharded))
    state = {"model": sharded.state_dict()}
    save(state, checkpoint_id=str(FOLDER))
    load(state, checkpoint_id=str(FOLDER))
    sharded.load_state_dict(state["model"])
    found["resumed"] = trained(sharded, adam(sharded))
    table = distribute_tensor(torch.arange(8.0).reshape(4, 2).to(DEVICE), mesh, [Shard(0)])
    found["dtensor"] = (table @ table.T).full_tensor().tolist()
    if RANK == 0:
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
