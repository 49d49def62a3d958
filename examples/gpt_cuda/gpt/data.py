"""Training text that needs no download: sums, one a line, as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import torch
import torch.distributed as dist
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Sums(Dataset[Tensor]):
    """Windows of ``context + 1`` bytes over a text of lines such as ``17+25=42``; equal seeds give equal text."""

    def __init__(self, *, context: int, windows: int = 4096, seed: int = 0) -> None:
        random = Random(seed)
        text = bytearray()
        while len(text) < windows * context + 1:
            one, other = random.randrange(100), random.randrange(100)
            text += f"{one}+{other}={one + other}\n".encode()
        self.tokens = torch.frombuffer(text, dtype=torch.uint8)
        self.context = context
        self.windows = windows

    def __len__(self) -> int:
        return self.windows

    def __getitem__(self, index: int) -> Tensor:
        start = index * self.context
        return self.tokens[start : start + self.context + 1].long()


def make_loader(data: Sums, *, batch: int, workers: int, seed: int) -> DataLoader[Tensor]:
    """Batches of this rank, in an order that changes from epoch to epoch."""
    sampler = None
    if dist.is_initialized():
        sampler = DistributedSampler(data, seed=seed, drop_last=True)
    return DataLoader(
        data,
        batch_size=batch,
        sampler=sampler,
        shuffle=sampler is None,
        num_workers=workers,
        pin_memory=torch.cuda.is_available(),
        drop_last=True,
    )


def endless(loader: DataLoader[Tensor], device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """Inputs and targets on the device, epoch after epoch."""
    epoch = 0
    while True:
        if isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(epoch)
        for window in loader:
            moved = window.to(device, non_blocking=True)
            yield moved[:, :-1], moved[:, 1:]
        epoch += 1
