"""Operators that torch would compose otherwise for an unknown device than for the CPU.

Attention picks its kernel through a C++ table that Python cannot fill, and recurrent cells go to fused kernels that
the CPU does not have. Here attention takes the CPU's choice, so that numbers are equal, and the fused cells are
written out (forward and backward, formulas of `torch.nn.LSTMCell` and `torch.nn.GRUCell`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trainwright.emulate.dispatch import Call

_FLASH = 1  # at::SDPBackend::flash_attention


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``scaled_dot_product_attention`` with the kernel that the CPU would use; ``[..., heads, length, width]``."""
    settings = {"scale": scale, "enable_gqa": enable_gqa}
    if _cpu_choice(query, key, value, attn_mask, dropout_p, is_causal, settings) != _FLASH:
        computed: tuple[Tensor, Tensor] = torch.ops.aten._scaled_dot_product_attention_math.default(
            query, key, value, attn_mask, dropout_p, is_causal, **settings
        )
        return computed[0]
    if attn_mask is not None and attn_mask.dtype is torch.bool:
        bias = torch.zeros_like(attn_mask, dtype=query.dtype)
        attn_mask = bias.masked_fill_(attn_mask.logical_not(), float("-inf"))
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    return flash(query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)[0]


def _cpu_choice(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    settings: dict[str, Any],
) -> int:
    """What the CPU's own table answers for tensors of the same kind."""
    needs_grad = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, value))
    with Call() as call, torch._C._AutoDispatchBelowAutograd():
        taken = [call.taken(tensor) for tensor in (query, key, value, mask)]
        for tensor in taken[:3]:
            tensor.requires_grad_(needs_grad)
        return int(torch._fused_sdp_choice(*taken, dropout_p, is_causal, **settings))


def lstm_cell(
    input_gates: Tensor, hidden_gates: Tensor, cx: Tensor, input_bias: Tensor | None, hidden_bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """``hy``, ``cy`` ``[batch, hidden]`` and the activated gates ``[batch, 4 hidden]`` for the way back."""
    gates = input_gates + hidden_gates
    if input_bias is not None and hidden_bias is not None:
        gates = input_gates + input_bias + hidden_gates + hidden_bias
    ingate, forget, cell, out = gates.chunk(4, 1)
    ingate, forget, cell, out = ingate.sigmoid(), forget.sigmoid(), cell.tanh(), out.sigmoid()
    cy = forget * cx + ingate * cell
    return out * cy.tanh(), cy, torch.cat([ingate, forget, cell, out], 1)


def lstm_cell_backward(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Gradients of the gates, of ``cx`` and of the bias."""
    ingate, forget, cell, out = workspace.chunk(4, 1)
    squashed = cy.tanh()
    of_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    of_cy = of_hy * out * (1 - squashed * squashed)
    if grad_cy is not None:
        of_cy = of_cy + grad_cy
    gates = torch.cat(
        [
            of_cy * cell * ingate * (1 - ingate),
            of_cy * cx * forget * (1 - forget),
            of_cy * ingate * (1 - cell * cell),
            of_hy * squashed * out * (1 - out),
        ],
        1,
    )
    return gates, of_cy * forget, gates.sum(0) if has_bias else None


def gru_cell(
    input_gates: Tensor, hidden_gates: Tensor, hx: Tensor, input_bias: Tensor | None, hidden_bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """``hy`` ``[batch, hidden]`` and ``reset, update, new, hx, hidden part of new`` for the way back."""
    of_input = input_gates if input_bias is None else input_gates + input_bias
    of_hidden = hidden_gates if hidden_bias is None else hidden_gates + hidden_bias
    ir, iz, i_new = of_input.chunk(3, 1)
    hr, hz, h_new = of_hidden.chunk(3, 1)
    reset, update = (hr + ir).sigmoid(), (hz + iz).sigmoid()
    new = (i_new + reset * h_new).tanh()
    return (hx - new) * update + new, torch.cat([reset, update, new, hx, h_new], 1)


def gru_cell_backward(
    grad_hy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """Gradients of the input gates, the hidden gates, ``hx`` and both biases."""
    reset, update, new, hx, h_new = workspace.chunk(5, 1)
    of_update = grad_hy * (hx - new) * update * (1 - update)
    of_new = grad_hy * (1 - update) * (1 - new * new)
    of_reset = of_new * h_new * reset * (1 - reset)
    of_input = torch.cat([of_reset, of_update, of_new], 1)
    of_hidden = torch.cat([of_reset, of_update, of_new * reset], 1)
    bias = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_input, of_hidden, grad_hy * update, *bias


KERNELS = (
    ("scaled_dot_product_attention", "PrivateUse1", attention),
    ("scaled_dot_product_attention", "AutogradPrivateUse1", attention),
    ("_thnn_fused_lstm_cell", "PrivateUse1", lstm_cell),
    ("_thnn_fused_lstm_cell_backward_impl", "PrivateUse1", lstm_cell_backward),
    ("_thnn_fused_gru_cell", "PrivateUse1", gru_cell),
    ("_thnn_fused_gru_cell_backward", "PrivateUse1", gru_cell_backward),
)
