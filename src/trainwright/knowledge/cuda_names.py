"""Names below ``torch.cuda`` and what they are called on the NPU."""

from __future__ import annotations

from trainwright.knowledge.surface import modules, npu_name_exists

#: Names that the support table lists under another name (torch_npu 2.8 API support table).
RENAMED = {"CUDAGraph": "NPUGraph", "CUDAPluggableAllocator": "NPUPluggableAllocator"}
#: Functions that take fewer arguments on the NPU than in torch.cuda, and which (torch_npu 2.8: utils, memory, streams).
PARAMETERS: dict[str, tuple[str, ...]] = {
    "is_bf16_supported": (),
    "memory_snapshot": (),
    "Event": ("enable_timing", "blocking", "interprocess"),
}
#: Exceptions of torch.cuda that torch has without CUDA, too (torch/cuda/__init__.py), and when they come on the NPU.
EXCEPTIONS = {
    "OutOfMemoryError": "torch_npu raises it, too; torch.OutOfMemoryError is its name for every device.",
    "AcceleratorError": "torch.AcceleratorError is its name for every device.",
    "CudaError": "Nothing raises it on the NPU.",
}
#: Modules of torch.cuda that rules of their own speak of.
APART = frozenset({"amp", "nvtx"})


def npu_counterpart(dotted: str) -> str | None:
    """Where an import finds what is now imported from ``torch.cuda``; None when the NPU has no such name.

    Below ``torch_npu.npu``, which is always at hand: ``torch.npu`` is that module, but only once torch_npu has been
    imported, and ``torch.npu.streams`` would be loaded as a second copy whose classes are not those of the first.
    """
    parts = [RENAMED.get(part, part) for part in dotted.split(".")[2:]]
    if not parts:
        return "torch_npu.npu"
    if f"torch_npu.npu.{parts[0]}" not in modules():
        return _joined("torch_npu.npu", parts) if npu_name_exists(f"torch_npu.npu.{parts[0]}") else None
    if len(parts) > 1 and parts[0] not in APART and npu_name_exists(f"torch_npu.npu.{parts[1]}"):
        return _joined("torch_npu.npu", parts[1:])
    known = len(parts) == 1 or npu_name_exists(f"torch_npu.npu.{parts[0]}.{parts[1]}")
    return _joined("torch_npu.npu", parts) if known else None


def npu_attribute(dotted: str) -> str | None:
    """The name to write for an attribute below ``torch.cuda`` once its first two parts are ``torch.npu``; None: none.

    Unlike `npu_counterpart` every other part stays where it is: ``torch.npu.streams.Stream``.
    """
    parts = [RENAMED.get(part, part) for part in dotted.split(".")[2:]]
    whole = _joined("torch.npu", parts)
    if not parts or not npu_name_exists(f"torch.npu.{parts[0]}"):
        return None if parts else whole
    module = f"torch_npu.npu.{parts[0]}" in modules()
    return whole if not module or len(parts) == 1 or npu_name_exists(_joined("torch.npu", parts[:2])) else None


def unknown_arguments(name: str, given: list[str | None]) -> list[str]:
    """The arguments of a call, None for one by position, that its counterpart on the NPU does not take."""
    taken = PARAMETERS.get(name)
    if taken is None:
        return []
    positional = sum(each is None for each in given)
    more = [f"argument {at + 1}" for at in range(len(taken), positional)]
    return more + [each for each in given if each is not None and each not in taken]


def _joined(module: str, parts: list[str]) -> str:
    return ".".join([module, *parts])


def is_private(dotted: str) -> bool:
    """Whether a part of the name begins with an underscore: the lists of public names say nothing about it."""
    return any(part.startswith("_") for part in dotted.split("."))
