"""The optimizer and its schedule."""

from __future__ import annotations

import math

from torch import nn
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from gpt.config import TrainConfig

try:
    import bitsandbytes as bnb
except ImportError:
    bnb = None

BETAS = (0.9, 0.95)


def make_optimizer(model: nn.Module, config: TrainConfig) -> Optimizer:
    """AdamW that decays matrices only: one fused kernel a step, or with its state in 8 bits."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    if config.optimizer == "adamw8bit":
        if bnb is None:
            raise RuntimeError("optimizer: adamw8bit needs the package bitsandbytes; install it or set adamw")
        return bnb.optim.AdamW8bit(groups, lr=config.learning_rate, betas=BETAS)
    return AdamW(groups, lr=config.learning_rate, betas=BETAS, fused=True)


def make_schedule(optimizer: Optimizer, config: TrainConfig) -> LambdaLR:
    """Linear warm-up, then a cosine down to a tenth."""

    def factor(step: int) -> float:
        if step < config.warmup:
            return (step + 1) / config.warmup
        done = (step - config.warmup) / max(1, config.steps - config.warmup)
        return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, done)))

    return LambdaLR(optimizer, factor)
