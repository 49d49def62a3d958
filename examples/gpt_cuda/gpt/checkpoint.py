"""Save a run and go on with it: weights, optimizer, loss scale and the state of every random generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.amp import GradScaler
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

#: A checkpoint holds the whole model, however many ranks share it.
WHOLE = StateDictOptions(full_state_dict=True, cpu_offload=True)


def save_checkpoint(
    path: Path, *, step: int, model: nn.Module, optimizer: Optimizer, schedule: LRScheduler, scaler: GradScaler
) -> None:
    """Write a checkpoint, every rank calls this; it takes its name only when it is whole."""
    weights, moments = get_state_dict(model, optimizer, options=WHOLE)
    if dist.is_initialized() and dist.get_rank() != 0:
        return
    state: dict[str, Any] = {
        "step": step,
        "model": weights,
        "optimizer": moments,
        "schedule": schedule.state_dict(),
        "scaler": scaler.state_dict(),
        "cpu_rng": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        state["cuda_rng"] = torch.cuda.get_rng_state_all()
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_suffix(".tmp")
    torch.save(state, staged)
    staged.replace(path)


def load_checkpoint(
    path: Path,
    *,
    location: torch.device,
    model: nn.Module,
    optimizer: Optimizer,
    schedule: LRScheduler,
    scaler: GradScaler,
) -> int:
    """Restore a checkpoint, tensors onto `location`; the step to go on with."""
    state = torch.load(path, map_location=location, weights_only=True)
    set_state_dict(
        model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"], options=WHOLE
    )
    schedule.load_state_dict(state["schedule"])
    scaler.load_state_dict(state["scaler"])
    torch.set_rng_state(state["cpu_rng"].cpu())
    if torch.cuda.is_available() and "cuda_rng" in state:
        torch.cuda.set_rng_state_all([rng.cpu() for rng in state["cuda_rng"]])
    return int(state["step"])
