"""A decoder with rotary positions, pre-normalization and a tied output layer."""

# ruff: noqa: N803, N806 - the dimensions of a tensor stand in its name
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from gpt.config import ModelConfig
from gpt.kernels import bias_gelu

try:
    from flash_attn import flash_attn_func
except ImportError:
    flash_attn_func = None


def rotary_table(*, context: int, head_width: int) -> Tensor:
    """Cosine and sine of every position and pair of channels, ``[2, T, H/2]``."""
    frequency_H = 10_000.0 ** (-torch.arange(0, head_width, 2, dtype=torch.float32) / head_width)
    angle_TH = torch.outer(torch.arange(context, dtype=torch.float32), frequency_H)
    return torch.stack([angle_TH.cos(), angle_TH.sin()])


def rotate(x_BNTH: Tensor, table_2TH: Tensor) -> Tensor:
    """Turn each pair of channels by the angle of its position."""
    cos, sin = table_2TH[:, : x_BNTH.shape[2]].to(x_BNTH.dtype)
    one, other = x_BNTH.chunk(2, dim=-1)
    return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1)


class Attention(nn.Module):
    """Causal self-attention: scaled dot product of PyTorch, or FlashAttention on half precision."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        if config.attention == "flash" and flash_attn_func is None:
            raise RuntimeError("attention: flash needs the package flash-attn; install it or set attention: sdpa")
        self.heads = config.heads
        self.flash = config.attention == "flash"
        self.project_in = nn.Linear(config.width, 3 * config.width, bias=False)
        self.project_out = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x_BTC: Tensor, table_2TH: Tensor) -> Tensor:
        """Mix what each position sees of those before it."""
        B, T, C = x_BTC.shape
        q, k, v = (part.view(B, T, self.heads, -1).transpose(1, 2) for part in self.project_in(x_BTC).split(C, dim=-1))
        q, k = rotate(q, table_2TH), rotate(k, table_2TH)
        if self.flash:
            y = flash_attn_func(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), causal=True)
        else:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        return self.project_out(y.reshape(B, T, C))


class FeedForward(nn.Module):
    """Two linear layers; bias and GELU of the first run in one kernel."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.widen = nn.Linear(config.width, 4 * config.width, bias=False)
        self.bias = nn.Parameter(torch.zeros(4 * config.width))
        self.narrow = nn.Linear(4 * config.width, config.width)

    def forward(self, x_BTC: Tensor) -> Tensor:
        """Transform every position by itself."""
        wide = self.widen(x_BTC)
        return self.narrow(bias_gelu(wide, self.bias.to(wide.dtype)))


class Block(nn.Module):
    """Attention and feed-forward, each on a normalized input and added to it."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.feed_norm = nn.LayerNorm(config.width)
        self.feed = FeedForward(config)

    def forward(self, x_BTC: Tensor, table_2TH: Tensor) -> Tensor:
        """One layer."""
        x_BTC = x_BTC + self.attention(self.attention_norm(x_BTC), table_2TH)
        return x_BTC + self.feed(self.feed_norm(x_BTC))


class GPT(nn.Module):
    """The whole model."""

    def __init__(self, config: ModelConfig, *, recompute: bool = False) -> None:
        super().__init__()
        self.config = config
        self.recompute = recompute
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.head.weight = self.embed.weight
        table = rotary_table(context=config.context, head_width=config.width // config.heads)
        self.register_buffer("table", table, persistent=False)
        self.apply(self._initialize)

    @staticmethod
    def _initialize(module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens_BT: Tensor, targets_BT: Tensor) -> Tensor:
        """The mean cross entropy of predicting `targets_BT`."""
        x_BTC = self.embed(tokens_BT)
        for block in self.blocks:
            if self.recompute:
                x_BTC = checkpoint(block, x_BTC, self.table, use_reentrant=False)
            else:
                x_BTC = block(x_BTC, self.table)
        logits_BTV = self.head(self.norm(x_BTC))
        return functional.cross_entropy(logits_BTV.flatten(0, 1).float(), targets_BT.flatten())

    def flops_per_token(self) -> float:
        """Floating point operations of forward and backward: six a weight, and attention over the context."""
        weights = sum(parameter.numel() for parameter in self.parameters())
        return 6 * weights + 12 * self.config.layers * self.config.width * self.config.context
