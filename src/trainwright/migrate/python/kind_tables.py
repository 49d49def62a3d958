"""Names of torch by which a value is known to be a tensor, a module, a device or an optimizer."""

from __future__ import annotations

_CREATORS = [
    "arange",
    "as_strided",
    "as_tensor",
    "asarray",
    "bartlett_window",
    "blackman_window",
    "complex",
    "empty",
    "empty_like",
    "empty_strided",
    "eye",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "hamming_window",
    "hann_window",
    "heaviside",
    "kaiser_window",
    "linspace",
    "logspace",
    "normal",
    "ones",
    "ones_like",
    "polar",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "scalar_tensor",
    "tensor",
    "zeros",
    "zeros_like",
    "abs",
    "add",
    "addmm",
    "allclose",
    "baddbmm",
    "bernoulli",
    "bmm",
    "cat",
    "clamp",
    "concat",
    "cumsum",
    "diag",
    "dot",
    "einsum",
    "exp",
    "flatten",
    "gather",
    "index_select",
    "log",
    "logsumexp",
    "masked_select",
    "matmul",
    "mean",
    "mm",
    "mul",
    "multinomial",
    "neg",
    "outer",
    "pow",
    "relu",
    "reshape",
    "roll",
    "rsqrt",
    "sigmoid",
    "sin",
    "softmax",
    "sqrt",
    "squeeze",
    "stack",
    "sub",
    "sum",
    "tanh",
    "tile",
    "transpose",
    "tril",
    "triu",
    "unsqueeze",
    "where",
]

#: Callable -> kind of its result.
FACTORIES: dict[str, str] = {
    **{f"torch.{name}": "tensor" for name in _CREATORS if name != "allclose"},
    "torch.device": "device",
    "torch.cuda.current_device": "device",
    "torch.Generator": "other",
    "torch.compile": "module",
    "torch.jit.script": "module",
    "torch.jit.load": "module",
    "torch.load": "other",
    "torch.nn.parallel.DistributedDataParallel": "module",
    "torch.nn.DataParallel": "module",
    "torch.nn.functional.softmax": "tensor",
    "torch.nn.functional.relu": "tensor",
    "torch.nn.functional.one_hot": "tensor",
    "torch.nn.functional.pad": "tensor",
    "torch.nn.functional.interpolate": "tensor",
    "torch.nn.functional.cross_entropy": "tensor",
    "torch.nn.functional.scaled_dot_product_attention": "tensor",
}
TENSOR_NAMES = frozenset(
    {"torch.Tensor", "torch.tensor.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.HalfTensor"}
    | {"torch.IntTensor", "torch.BoolTensor", "torch.ByteTensor", "torch.DoubleTensor", "torch.nn.Parameter"}
    | {"torch.nn.parameter.Parameter", "torch.autograd.Variable"}
)
MODULE_BASES = frozenset(
    {
        "torch.nn.Module",
        "torch.nn.modules.Module",
        "torch.nn.modules.module.Module",
        "pytorch_lightning.LightningModule",
    }
    | {"lightning.LightningModule", "lightning.pytorch.LightningModule", "transformers.PreTrainedModel"}
    | {"transformers.modeling_utils.PreTrainedModel", "mmengine.model.BaseModule", "diffusers.ModelMixin"}
)
TENSOR_ATTRIBUTES = frozenset({"T", "mT", "H", "data", "grad", "real", "imag"})
MODULE_METHODS = frozenset(
    {"cuda", "npu", "cpu", "to", "to_empty", "train", "eval", "half", "float", "double", "bfloat16", "requires_grad_"}
    | {"apply", "type", "share_memory"}
)
#: Methods of a tensor whose result is not a tensor.
NOT_TENSOR_METHODS = frozenset(
    {"item", "tolist", "numpy", "size", "dim", "numel", "nelement", "element_size", "stride", "backward", "storage"}
    | {"get_device", "data_ptr", "is_contiguous", "is_floating_point", "type", "register_hook", "split", "chunk"}
    | {
        "unbind",
        "max",
        "min",
        "sort",
        "topk",
        "nonzero",
        "untyped_storage",
        "ndimension",
        "storage_offset",
        "tensor_split",
    }
)
_TENSOR_ONLY = frozenset(
    {"backward", "detach", "detach_", "unsqueeze", "unsqueeze_", "squeeze", "numel", "contiguous", "is_contiguous"}
    | {
        "requires_grad",
        "grad",
        "grad_fn",
        "masked_fill",
        "masked_fill_",
        "item",
        "view",
        "view_as",
        "permute",
        "expand",
    }
    | {
        "expand_as",
        "index_select",
        "scatter_",
        "scatter",
        "gather",
        "clamp",
        "clamp_",
        "softmax",
        "log_softmax",
        "topk",
    }
    | {"new_zeros", "new_ones", "new_tensor", "new_full", "new_empty", "argmax", "norm", "bmm", "matmul", "pin_memory"}
    | {
        "data_ptr",
        "element_size",
        "is_cuda",
        "retain_grad",
        "narrow",
        "zero_",
        "fill_",
        "copy_",
        "add_",
        "mul_",
        "nelement",
    }
    | {
        "logical_not",
        "bool",
        "long",
        "repeat_interleave",
        "cumsum",
        "transpose",
        "reshape",
        "ndim",
        "is_floating_point",
    }
)
_MODULE_ONLY = frozenset(
    {
        "parameters",
        "named_parameters",
        "modules",
        "named_modules",
        "children",
        "named_children",
        "buffers",
        "state_dict",
    }
    | {"load_state_dict", "requires_grad_", "zero_grad", "register_buffer", "register_forward_hook", "eval", "train"}
    | {"register_full_backward_hook", "named_buffers", "gradient_checkpointing_enable", "add_module"}
)
#: Methods that only tensors have and whose result is a tensor: what they are called on need not be known.
TENSOR_GIVING = frozenset(
    {"contiguous", "unsqueeze", "masked_fill", "index_select", "view_as", "expand_as", "type_as", "new_zeros"}
    | {"new_ones", "new_tensor", "new_full", "new_empty", "log_softmax"}
)
#: Kind -> methods that only values of that kind have, as training code uses them.
DISTINCT_METHODS: dict[str, frozenset[str]] = {
    "tensor": _TENSOR_ONLY
    - {"reshape", "view", "transpose", "ndim", "copy_", "bool", "long", "item", "argmax", "cumsum"},
    "module": _MODULE_ONLY - {"zero_grad", "state_dict", "load_state_dict", "train"},
}
