"""``torch.autocast("npu")``: which operators compute in the lower precision, which in float32, which in the widest.

The lists are those of torch's header for all devices (ATen/autocast_mode.h, AT_FORALL_*), less what torch_npu leaves
out: the twelve ``upsample`` operators and ``rms_norm`` of the float32 list, ``linalg_vecdot``, ``vdot``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

LOWER = (
    "_convolution _convolution.deprecated conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input "
    "conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv linear addbmm baddbmm bmm "
    "chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell "
    "rnn_relu_cell _scaled_dot_product_flash_attention scaled_dot_product_attention"
)
FLOAT32 = (
    "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar "
    "pow.Tensor_Tensor pow.Scalar softplus layer_norm native_layer_norm group_norm frobenius_norm.dim "
    "nuclear_norm nuclear_norm.dim cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d "
    "hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss "
    "multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss "
    "binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp"
)
#: Compute in float32 by giving the operator a ``dtype`` where the program gave none.
FLOAT32_DTYPE = (
    "prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm linalg_matrix_norm "
    "linalg_matrix_norm.str_ord sum sum.dim_IntList"
)
PROMOTE = "addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put tensordot scatter_add"
#: Not allowed under autocast: its gradient may not fit the lower precision.
REFUSED = "binary_cross_entropy"

_LIBRARIES: list[Any] = []
_KEY = "AutocastPrivateUse1"
_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)


class _Cache:
    """Weights cast once in a region of autocast: leaf tensors that are trained."""

    def __init__(self) -> None:
        self.cast: dict[int, tuple[weakref.ref[Tensor], Tensor]] = {}

    def get(self, tensor: Tensor, dtype: torch.dtype) -> Tensor:
        """The tensor in the lower precision."""
        fits = tensor.requires_grad and tensor.is_leaf and tensor.dtype is torch.float32 and not tensor._is_view()
        if not (fits and torch.is_autocast_cache_enabled()):
            return tensor.to(dtype)
        held = self.cast.get(id(tensor))
        if held is not None and held[0]() is tensor and held[1].dtype is dtype:
            return held[1]
        made = tensor.to(dtype)
        self.cast[id(tensor)] = (weakref.ref(tensor), made)
        return made


_CACHE = _Cache()


def install_autocast() -> None:
    """Register the kernels; everything without one falls through autocast."""
    fallback = torch.library.Library("_", "IMPL")
    _LIBRARIES.append(fallback)
    fallback.fallback(torch.library.fallthrough_kernel, _KEY)
    library = torch.library.Library("aten", "IMPL")
    _LIBRARIES.append(library)
    policies = ((LOWER, _lower), (FLOAT32, _float32), (FLOAT32_DTYPE, _float32_dtype), (PROMOTE, _widest))
    for names, policy in policies:
        for name in names.split():
            if _exists(name):
                library.impl(name, _kernel(name, policy), _KEY)
    library.impl(REFUSED, _refused, _KEY)
    _clear_with_torch()


def _exists(name: str) -> bool:
    base, _, rest = name.partition(".")
    return hasattr(torch.ops.aten, base) and (rest or "default") in getattr(torch.ops.aten, base).overloads()


def _kernel(name: str, policy: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    base, _, rest = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base), rest or "default")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_KEYS):
            return policy(operator, args, kwargs)

    return kernel


def _eligible(value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and value.device.type == "npu"
        and value.is_floating_point()
        and value.dtype is not torch.float64
    )


def _mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return change(value) if _eligible(value) else value
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(item, change) for item in value)
    return value


def _changed(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], change: Callable[[Tensor], Tensor]) -> Any:
    return operator(*_mapped(args, change), **{key: _mapped(value, change) for key, value in kwargs.items()})


def _lower(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    dtype = torch.get_autocast_dtype("npu")
    return _changed(operator, args, kwargs, lambda t: t if t.dtype is dtype else _CACHE.get(t, dtype))


def _float32(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _changed(operator, args, kwargs, lambda t: t.float())


def _float32_dtype(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    at = next(i for i, argument in enumerate(operator._schema.arguments) if argument.name == "dtype")
    keyword = operator._schema.arguments[at].kwarg_only
    given = kwargs.get("dtype") if keyword else args[at] if len(args) > at else None
    if given is not None or not _eligible(args[0]):
        return operator(*args, **kwargs)
    if keyword:
        return operator(*args, **{**kwargs, "dtype": torch.float32})
    defaults = [argument.default_value for argument in operator._schema.arguments[len(args) : at]]
    return operator(*args[:at], *defaults, torch.float32, *args[at + 1 :], **kwargs)


def _widest(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    found: list[torch.dtype] = []

    def noted(tensor: Tensor) -> Tensor:
        found.append(tensor.dtype)
        return tensor

    _mapped(args, noted)
    widest = torch.float32 if torch.float32 in found else torch.get_autocast_dtype("npu")
    return _changed(operator, args, kwargs, lambda t: t.to(widest))


def _refused(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
        "Use torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss, or switch autocast "
        "off around the loss"
    )


def _clear_with_torch() -> None:
    """Forget cast weights when torch does: at the end of the outermost region."""
    clear = torch.clear_autocast_cache

    def clear_both() -> None:
        _CACHE.cast.clear()
        clear()

    torch.clear_autocast_cache = clear_both
