"""``gelu(x + bias)`` in one CUDA kernel, or in plain PyTorch where the extension is not built."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.autograd import Function
from torch.nn import functional

try:
    import bias_gelu_cuda
except ImportError:
    bias_gelu_cuda = None


class _BiasGelu(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor) -> Tensor:
        x = x.contiguous()
        ctx.save_for_backward(x, bias)
        return bias_gelu_cuda.forward(x, bias)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, bias = ctx.saved_tensors
        grad_x = bias_gelu_cuda.backward(grad.contiguous(), x, bias)
        return grad_x, grad_x.flatten(0, -2).sum(0)


def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """Add `bias` to the last dimension and apply GELU (tanh form)."""
    if x.is_cuda and bias_gelu_cuda is not None:
        return _BiasGelu.apply(x, bias)
    return functional.gelu(x + bias, approximate="tanh")
