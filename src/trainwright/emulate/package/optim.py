"""``torch_npu.optim``: optimizers that update all parameters in few kernels, by the formulas of torch.optim."""

from __future__ import annotations

from typing import Any

import torch


class _OneNorm:
    """What the fused optimizers of torch_npu add: clip the norm of all gradients at once."""

    param_groups: list[dict[str, Any]]
    is_npu_fused_optimizer = True

    def clip_grad_norm_fused_(self, max_norm: float, norm_type: float = 2.0) -> torch.Tensor:
        """Scale all gradients down to a total norm of `max_norm`; the norm before."""
        parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)


class NpuFusedAdamW(_OneNorm, torch.optim.AdamW):
    """AdamW; `torch.optim.AdamW` here."""


class NpuFusedAdam(_OneNorm, torch.optim.Adam):
    """Adam; `torch.optim.Adam` here."""


class NpuFusedSGD(_OneNorm, torch.optim.SGD):
    """SGD with momentum; `torch.optim.SGD` here."""


class NpuFusedAdadelta(_OneNorm, torch.optim.Adadelta):
    """Adadelta; `torch.optim.Adadelta` here."""


class NpuFusedRMSprop(_OneNorm, torch.optim.RMSprop):
    """RMSprop; `torch.optim.RMSprop` here."""
