"""What the GPU is, how long a step took on it, and how much of it was used."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

#: Dense half precision operations a second of the GPU that the utilization is given for.
A100_PEAK_FLOPS = 312e12


def banner(device: torch.device) -> str:
    """One line about the device."""
    if device.type != "cuda":
        return f"torch {torch.__version__} on {device.type}"
    properties = torch.cuda.get_device_properties(device)
    major, minor = torch.cuda.get_device_capability(device)
    memory_gib = properties.total_memory / 2**30
    return (
        f"torch {torch.__version__}, CUDA {torch.version.cuda}: {properties.name}, sm_{major}{minor}, "
        f"{properties.multi_processor_count} multiprocessors, {memory_gib:.0f} GiB"
    )


def allow_tensor_cores() -> None:
    """Let float32 matrix products use TF32, and cuDNN choose its kernels by trying them."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True


@contextmanager
def span(name: str) -> Iterator[None]:
    """A named range in the timeline of Nsight Systems; nothing on the CPU."""
    if not torch.cuda.is_available():
        yield
        return
    torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()


class StepTimer:
    """Seconds between `start` and `stop` as the device saw them."""

    def __init__(self, device: torch.device) -> None:
        self.on_gpu = device.type == "cuda"
        self.begun_s = 0.0
        if self.on_gpu:
            self.begun = torch.cuda.Event(enable_timing=True)
            self.ended = torch.cuda.Event(enable_timing=True)

    def start(self) -> None:
        """Begin to measure."""
        if self.on_gpu:
            self.begun.record()
        self.begun_s = time.perf_counter()

    def stop(self) -> float:
        """End and wait for the device."""
        if not self.on_gpu:
            return time.perf_counter() - self.begun_s
        self.ended.record()
        torch.cuda.synchronize()
        return float(self.begun.elapsed_time(self.ended)) / 1e3


def utilization(*, flops: float, seconds: float) -> float:
    """The share of the peak of an A100 that was reached."""
    return flops / seconds / A100_PEAK_FLOPS
