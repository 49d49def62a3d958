"""The training loop of one rank."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

from gpt.checkpoint import load_checkpoint, save_checkpoint
from gpt.config import Config
from gpt.data import Sums, endless, make_loader
from gpt.hardware import StepTimer, allow_tensor_cores, banner, span, utilization
from gpt.model import GPT
from gpt.optim import make_optimizer, make_schedule

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def start_ranks(config: Config) -> tuple[int, int, torch.device]:
    """Join the other ranks when a launcher started us; our rank, the number of ranks, and our device."""
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    if config.train.device == "cuda":
        if not torch.cuda.is_available():
            raise SystemExit("no GPU found: use --device cpu --backend gloo")
        torch.cuda.set_device(local_rank)
        device = torch.device("cuda", local_rank)
    else:
        device = torch.device(config.train.device)
    if "WORLD_SIZE" not in os.environ:
        return 0, 1, device
    dist.init_process_group(backend=config.train.backend)
    return dist.get_rank(), dist.get_world_size(), device


def check_dtype(config: Config) -> torch.dtype:
    """The type that autocast computes in."""
    dtype = DTYPES[config.train.dtype]
    if dtype is torch.bfloat16 and config.train.device == "cuda" and not torch.cuda.is_bf16_supported():
        raise SystemExit("this GPU has no bfloat16: set dtype: float16")
    return dtype


class Trainer:
    """Everything one rank needs to take steps."""

    def __init__(self, config: Config, device: torch.device) -> None:
        self.config = config
        self.device = device
        self.dtype = check_dtype(config)
        self.raw_model = GPT(config.model, recompute=config.train.recompute).to(device)
        sharded = dist.is_initialized() and config.train.sharding == "fsdp"
        if sharded:
            for block in self.raw_model.blocks:
                fully_shard(block)
            fully_shard(self.raw_model)
        self.model: nn.Module = torch.compile(self.raw_model) if config.train.compile else self.raw_model
        if dist.is_initialized() and not sharded:
            ids = [device.index] if device.type == "cuda" else None
            self.model = DistributedDataParallel(self.model, device_ids=ids)
        self.optimizer: Optimizer = make_optimizer(self.raw_model, config.train)
        self.schedule: LRScheduler = make_schedule(self.optimizer, config.train)
        scaled = device.type == "cuda" and self.dtype is torch.float16
        self.scaler = GradScaler("cuda", enabled=scaled)
        # Half precision without a loss scale would lose small gradients: the CPU takes bfloat16 or none.
        self.mixed = scaled or self.dtype is torch.bfloat16

    def step(self, tokens_BT: Tensor, targets_BT: Tensor) -> Tensor:  # noqa: N803
        """One optimizer step; the loss stays on the device."""
        autocast = torch.autocast(device_type=self.device.type, dtype=self.dtype, enabled=self.mixed)
        with span("forward"), autocast:
            loss = self.model(tokens_BT, targets_BT)
        with span("backward"):
            self.scaler.scale(loss).backward()
        with span("optimizer"):
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.raw_model.parameters(), self.config.train.clip)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
            self.schedule.step()
        return loss.detach()

    def save(self, path: Path, step: int) -> None:
        """Write a checkpoint that `resume` can read."""
        save_checkpoint(
            path,
            step=step,
            model=self.raw_model,
            optimizer=self.optimizer,
            schedule=self.schedule,
            scaler=self.scaler,
        )

    def resume(self, path: Path) -> int:
        """Restore a checkpoint; the step to go on with."""
        return load_checkpoint(
            path,
            location=self.device,
            model=self.raw_model,
            optimizer=self.optimizer,
            schedule=self.schedule,
            scaler=self.scaler,
        )


def mean_over_ranks(loss: Tensor, ranks: int) -> float:
    """The loss averaged over all ranks."""
    if ranks > 1:
        dist.all_reduce(loss)
    return float(loss) / ranks


def log(trainer: Trainer, *, step: int, loss: float, seconds: float, tokens: int) -> None:
    """One line about a step of this rank's size."""
    line = f"step {step} loss {loss:.6f} {1e3 * seconds:.1f} ms {tokens / seconds:.0f} tokens/s"
    if trainer.device.type == "cuda":
        share = utilization(flops=trainer.raw_model.flops_per_token() * tokens, seconds=seconds)
        peak_mib = torch.cuda.max_memory_allocated() / 2**20
        line += f" {100 * share:.1f}% of an A100, {peak_mib:.0f} MiB"
    print(line, flush=True)


@contextmanager
def profiled(folder: Path | None, device: torch.device) -> Iterator[Callable[[], None]]:
    """Leave a trace of three steps of this rank in `folder`; what it gives is called after every step."""
    if folder is None:
        yield lambda: None
        return
    activities = [ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    with profile(
        activities=activities,
        schedule=schedule(wait=2, warmup=1, active=3, repeat=1),
        on_trace_ready=tensorboard_trace_handler(str(folder)),
        record_shapes=True,
    ) as profiler:
        yield profiler.step


def train(config: Config, *, checkpoint: Path, resume: bool, traces: Path | None = None) -> None:
    """Run all steps on this rank; write `checkpoint` from time to time and at the end, and a trace to `traces`."""
    rank, ranks, device = start_ranks(config)
    torch.manual_seed(config.train.seed)
    if device.type == "cuda":
        torch.cuda.manual_seed_all(config.train.seed)
        allow_tensor_cores()
    if rank == 0:
        print(banner(device), flush=True)
    trainer = Trainer(config, device)
    first = trainer.resume(checkpoint) if resume else 0
    settings = config.train
    data = Sums(context=config.model.context, seed=settings.seed)
    batches = endless(make_loader(data, batch=settings.batch, workers=settings.workers, seed=settings.seed), device)
    timer = StepTimer(device)
    with profiled(traces, device) as step_done:
        for step in range(first, settings.steps):
            tokens, targets = next(batches)
            timer.start()
            loss = trainer.step(tokens, targets)
            if step % settings.log_every == 0 or step + 1 == settings.steps:
                seconds = timer.stop()
                mean = mean_over_ranks(loss, ranks)
                if rank == 0:
                    log(trainer, step=step, loss=mean, seconds=seconds, tokens=tokens.numel())
            if (step + 1) % settings.save_every == 0 or step + 1 == settings.steps:
                trainer.save(checkpoint, step + 1)
            step_done()
    if dist.is_initialized():
        dist.destroy_process_group()
