"""How much slower a training step is on the emulated NPU than on the CPU that computes it.

Usage: ``python benchmarks/emulator_overhead.py``. It needs torch and Trainwright in the running Python. A GPT of four
layers takes AdamW steps on both devices in turn, on one thread; the least CPU time of a step counts. Exit code 0: the
aims are met, 1: one is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainwright.emulate import install

LAYERS, HEADS, BATCH, VOCABULARY = 4, 4, 4, 256
#: Hidden size, length of a sequence, most that the ratio may be.
CASES = ((128, 64, 1.5), (512, 128, 1.15))
WARMUP_STEPS = 3


class Block(nn.Module):
    """Attention and feed-forward."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.project_in, self.project_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """``[batch, length, width]`` to the same."""
        batch, length, width = x.shape
        heads = self.project_in(self.norms[0](x)).view(batch, length, 3, HEADS, width // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + self.project_out(mixed.reshape(batch, length, width))
        return x + self.narrow(functional.gelu(self.widen(self.norms[1](x))))


class Model(nn.Module):
    """A small GPT."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """The loss of guessing each token from those before."""
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        logits = self.head(self.norm(self.blocks(x)))
        return functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def step_on(device: str, width: int, length: int) -> Callable[[], float]:
    """A training step; it answers its loss."""
    torch.manual_seed(0)
    model = Model(width, length).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    tokens = torch.randint(0, VOCABULARY, (BATCH, length)).to(device)

    def step() -> float:
        optimizer.zero_grad()
        loss = model(tokens)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main() -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=15, metavar="N", help="steps on each device (default 15)")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    arguments = parser.parse_args()
    install(devices=1)
    torch.set_num_threads(1)
    rows = [measured(width, length, aim, arguments.steps) for width, length, aim in CASES]
    if arguments.json:
        print(json.dumps(rows))
    else:
        print(f"torch {torch.__version__}, {LAYERS} layers, one thread, CPU ms: fastest of {arguments.steps} steps\n")
        print("hidden  length  CPU ms  NPU ms  ratio   aim")
        for row in rows:
            print("{hidden:6}  {length:6}  {cpu_ms:6.1f}  {npu_ms:6.1f}  {ratio:5.2f}  {aim:4}  {word}".format(**row))
    return int(any(row["word"] != "met" for row in rows))


def measured(width: int, length: int, aim: float, steps: int) -> dict[str, float | str]:
    """One row: both devices in turn, so that a busy machine slows both."""
    on_cpu, on_npu = step_on("cpu", width, length), step_on("npu", width, length)
    for _ in range(WARMUP_STEPS):
        on_cpu()
        on_npu()
    cpu_s = npu_s = float("inf")
    for _ in range(steps):
        cpu_s, npu_s = min(cpu_s, seconds(on_cpu)), min(npu_s, seconds(on_npu))
    ratio = npu_s / cpu_s
    word = "met" if ratio <= aim else "MISSED"
    times = {"cpu_ms": 1e3 * cpu_s, "npu_ms": 1e3 * npu_s, "ratio": ratio}
    return {"hidden": width, "length": length, **times, "aim": aim, "word": word}


def seconds(step: Callable[[], float]) -> float:
    """CPU seconds of one step."""
    begun = time.process_time()
    step()
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
