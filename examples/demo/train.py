"""Train a small language model on two CPU ranks and profile a few of its steps.

Usage: ``python examples/demo/train.py --out demo_out/profile``, then ``trainwright analyze demo_out/profile``.

It needs nothing but PyTorch: no accelerator, no network, no launcher. Each rank uses one thread and writes
``rank{N}.pt.trace.json.gz`` into the output folder; rank 0 prints the loss of every step, averaged over the ranks.

Two things in it are slow on purpose, so that the breakdown of the step time has something to show: reading takes
``READ_S`` seconds a sample, in the training process itself, and one profiled step runs a full garbage collection.
"""

# ruff: noqa: N803, N806 - the dimensions of a tensor stand in its name
from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, IterableDataset

HOST = "127.0.0.1"
VOCABULARY = 64
READ_S = 0.002
WAIT_STEPS = 2
WARMUP_STEPS = 1
LEARNING_RATE = 3e-3


class Tokens(IterableDataset[Tensor]):
    """An endless stream of sequences ``tokens_S1`` (int64, sequence length + 1), slow to read on purpose.

    Each token follows from the one before it by one fixed random table, except that one in ten is noise: a model
    that learns the table brings the loss from ``log(VOCABULARY)`` = 4.16 down to about 0.7.
    """

    def __init__(self, *, length: int, seed: int) -> None:
        self.length = length
        self.random = Random(seed)
        self.successor = Random("table").sample(range(VOCABULARY), VOCABULARY)

    def __iter__(self) -> Iterator[Tensor]:
        while True:
            time.sleep(READ_S)
            tokens = [self.random.randrange(VOCABULARY)]
            for _ in range(self.length):
                noise = self.random.random() < 0.1
                tokens.append(self.random.randrange(VOCABULARY) if noise else self.successor[tokens[-1]])
            yield torch.tensor(tokens)


class LanguageModel(nn.Module):
    """A causal transformer: ``tokens_BS`` in, ``logits_BSV`` out."""

    def __init__(self, *, width: int, layers: int, length: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.position = nn.Embedding(length, width)
        block = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens_BS: Tensor) -> Tensor:
        length = tokens_BS.shape[1]
        hidden_BSD = self.embed(tokens_BS) + self.position.weight[:length]
        mask_SS = nn.Transformer.generate_square_subsequent_mask(length)
        logits_BSV: Tensor = self.head(self.blocks(hidden_BSD, mask=mask_SS, is_causal=True))
        return logits_BSV


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, tokens_BS1: Tensor) -> Tensor:
    """One forward, backward and update; returns the loss of this rank before the update."""
    logits_BSV = model(tokens_BS1[:, :-1])
    loss = nn.functional.cross_entropy(logits_BSV.flatten(0, 1), tokens_BS1[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def train(rank: int, port: int, arguments: argparse.Namespace) -> None:
    """The whole job of one rank: join the others, train, write one trace."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    store = dist.TCPStore(HOST, port, is_master=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=arguments.ranks)
    network = LanguageModel(width=arguments.width, layers=arguments.layers, length=arguments.length)
    model = DistributedDataParallel(network)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    loader = DataLoader(Tokens(length=arguments.length, seed=rank), batch_size=arguments.batch)
    active = arguments.profiled_steps
    steps = WAIT_STEPS + WARMUP_STEPS + active
    collect_at = WAIT_STEPS + WARMUP_STEPS + active // 2
    trace = arguments.out / f"rank{rank}.pt.trace.json.gz"
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WAIT_STEPS, warmup=WARMUP_STEPS, active=active, repeat=1),
        on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(trace)),
        record_shapes=True,
        profile_memory=True,
        with_stack=False,
    ) as profiler:
        for step, tokens_BS1 in enumerate(islice(loader, steps)):
            loss = train_step(model, optimizer, tokens_BS1)
            dist.all_reduce(loss)
            if step == collect_at:
                with record_function("gc.collect"):
                    gc.collect()
            if rank == 0:
                print(f"step {step:3d}  loss {loss.item() / arguments.ranks:.4f}", flush=True)
            profiler.step()
    dist.destroy_process_group()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the traces; made if it is missing")
    parser.add_argument("--ranks", type=int, default=2, help="processes, one thread each (default: 2)")
    parser.add_argument("--profiled-steps", type=int, default=9, help="steps in the trace (default: 9)")
    parser.add_argument("--batch", type=int, default=16, help="sequences a rank and step (default: 16)")
    parser.add_argument("--length", type=int, default=64, help="tokens a sequence (default: 64)")
    parser.add_argument("--width", type=int, default=128, help="model width, a multiple of 4 (default: 128)")
    parser.add_argument("--layers", type=int, default=4, help="transformer blocks (default: 4)")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # gloo would look the host name up, which fails without a network
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # the ranks inherit both: the losses are the only output
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    # The system picks a free port and the parent holds it, so that no other process can take it in between.
    store = dist.TCPStore(HOST, 0, is_master=True, wait_for_workers=False)
    mp.spawn(train, args=(store.port, arguments), nprocs=arguments.ranks)
    print(f"wrote {arguments.ranks} traces into {arguments.out}")
    print(f"next: trainwright analyze {arguments.out}")


if __name__ == "__main__":
    main()
