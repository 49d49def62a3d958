"""The settings of a run, read from YAML."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of the model; `attention` is ``sdpa`` or ``flash``."""

    vocabulary: int = 128
    context: int = 128
    layers: int = 4
    heads: int = 4
    width: int = 256
    attention: str = "sdpa"


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How the model is trained.

    `dtype` is what autocast computes in, `optimizer` is ``adamw`` or ``adamw8bit``, `sharding` is ``ddp`` (every rank
    holds the model) or ``fsdp`` (a part of it). With `recompute` a block's activations are computed again on the way
    back instead of kept.
    """

    device: str = "cuda"
    backend: str = "nccl"
    dtype: str = "float16"
    optimizer: str = "adamw"
    sharding: str = "ddp"
    recompute: bool = False
    compile: bool = False
    steps: int = 200
    batch: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    warmup: int = 20
    clip: float = 1.0
    seed: int = 1
    workers: int = 2
    log_every: int = 10
    save_every: int = 100


@dataclass(frozen=True, kw_only=True)
class Config:
    """Both parts of a configuration file."""

    model: ModelConfig
    train: TrainConfig


def load_config(path: Path, overrides: dict[str, Any]) -> Config:
    """Read a configuration; `overrides` are settings of `TrainConfig`, those that are None do not count."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    given = {name: value for name, value in overrides.items() if value is not None}
    return Config(
        model=ModelConfig(**content["model"]),
        train=TrainConfig(**{**content["train"], **given}),
    )
